#!/bin/sh
# Makes build/docs/venv with the packages of requirements/docs.txt, checked by hash. It is not .venv, so that the tools of
# the site and those of the tests need not agree on versions.
set -eu
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/.."

say "installing mkdocs in build/docs/venv"
rm -rf build/docs/venv
mkdir -p build/docs
"$("$PWD/scripts/find_python.sh")" -m venv build/docs/venv
build/docs/venv/bin/pip install -q --disable-pip-version-check --no-deps --require-hashes -r requirements/docs.txt ||
    die "could not install the packages of requirements/docs.txt: is the package index reachable?"
