#!/bin/sh
# Fails with instructions unless Node 20 or newer and npm, which build the browser client, are on PATH.
set -eu
. "$(dirname "$0")/lib.sh"

command -v node >/dev/null 2>&1 || die "Node 20 or newer is required to build the browser client, but node is not on PATH."
version=$(node --version)
major=${version#v}
major=${major%%.*}
[ "$major" -ge 20 ] || die "Node 20 or newer is required to build the browser client, but $(command -v node) is $version."
command -v npm >/dev/null 2>&1 || die "npm is not on PATH. It comes with Node, but on Debian and Ubuntu it is a separate package: apt-get install npm"
