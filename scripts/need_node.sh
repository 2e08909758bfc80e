#!/bin/sh
# Fails with instructions unless Node 20 or newer and npm are on PATH. They build the browser client.
set -eu
. "$(dirname "$0")/lib.sh"

command -v node >/dev/null 2>&1 || die "needs Node 20 or newer to build the browser client, but no node is on PATH."
version=$(node --version)
major=${version#v}
major=${major%%.*}
[ "$major" -ge 20 ] || die "needs Node 20 or newer to build the browser client; $(command -v node) is $version."
command -v npm >/dev/null 2>&1 || die "found node but no npm on PATH; npm comes with Node (on Debian and Ubuntu it is a separate package: apt-get install npm)."
