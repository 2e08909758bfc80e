#!/bin/sh
# Builds dist/hawse-*-cp3*-linux_*.whl, a compiled wheel for each supported version of Python on PATH. pip prefers these
# to the pure wheel built by `make build`. Before publication, `auditwheel repair` must check and rename them.
set -eu
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/.."

made=0
for version in ${VERSIONS:-3.11 3.12 3.13}; do
    # sys.executable instead of the name, because pyenv also has shims for versions that are not active.
    python=$("python$version" -c 'import sys; print(sys.executable)' 2>/dev/null) || { say "no Python $version"; continue; }
    venv=build/wheels/$version
    rm -rf "$venv"
    "$python" -m venv "$venv"
    say "compiling with Python $version"
    "$venv/bin/python" -m pip install -q --disable-pip-version-check --no-deps --require-hashes \
        -r requirements/run.txt -r requirements/build.txt -r requirements/compile.txt
    HAWSE_COMPILE=1 "$venv/bin/python" -m pip wheel -q --disable-pip-version-check --no-deps --no-build-isolation \
        --wheel-dir dist .
    made=$((made + 1))
done
[ "$made" -gt 0 ] || die "none of these Python versions is on PATH: ${VERSIONS:-3.11 3.12 3.13}"
