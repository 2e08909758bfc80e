#!/bin/sh
# Makes build/apps/venv with the packages of e2e/apps/requirements.txt, checked by hash. They are installed by uv, which is
# one of them: pip needs several times as long for the 500 MB.
set -eu
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/.."

venv=build/apps/venv
say "installing the Python programs of make test-apps in $venv"
rm -rf "$venv"
mkdir -p build/apps
"$("$PWD/scripts/find_python.sh")" -m venv "$venv"
# A pin is one line that continues with a backslash for each hash.
sed -n '/^uv==/,/[^\\]$/p' e2e/apps/requirements.txt >build/apps/uv.txt
"$venv/bin/pip" install -q --disable-pip-version-check --no-deps --require-hashes -r build/apps/uv.txt ||
    die "could not install uv: is the package index reachable?"
"$venv/bin/uv" pip install -q --python "$venv/bin/python" --require-hashes -r e2e/apps/requirements.txt ||
    die "could not install the packages of e2e/apps/requirements.txt: is the package index reachable?"
