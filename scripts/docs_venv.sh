#!/bin/sh
# Creates build/docs/venv with the packages in requirements/docs.txt, checked by hash. It is separate from .venv,
# because the tools for the site and for the tests can need different versions.
set -eu
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/.."

say "installing mkdocs in build/docs/venv"
rm -rf build/docs/venv
mkdir -p build/docs
"$("$PWD/scripts/find_python.sh")" -m venv build/docs/venv
build/docs/venv/bin/pip install -q --disable-pip-version-check --no-deps --require-hashes -r requirements/docs.txt ||
    die "cannot install the packages in requirements/docs.txt; is the package index reachable?"
