#!/bin/sh
# Creates build/apps/venv with the packages in e2e/apps/requirements.txt, checked by hash. uv, which is one of them,
# installs the others, because pip takes several times as long for the 500 MB.
set -eu
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/.."

venv=build/apps/venv
say "installing the Python programs of make test-apps in $venv"
rm -rf "$venv"
mkdir -p build/apps
"$("$PWD/scripts/find_python.sh")" -m venv "$venv"
# A pin is a single logical line: it continues with a backslash before each hash.
sed -n '/^uv==/,/[^\\]$/p' e2e/apps/requirements.txt >build/apps/uv.txt
"$venv/bin/pip" install -q --disable-pip-version-check --no-deps --require-hashes -r build/apps/uv.txt ||
    die "cannot install uv; is the package index reachable?"
"$venv/bin/uv" pip install -q --python "$venv/bin/python" --require-hashes -r e2e/apps/requirements.txt ||
    die "cannot install the packages in e2e/apps/requirements.txt; is the package index reachable?"
