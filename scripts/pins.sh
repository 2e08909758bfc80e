#!/bin/sh
# Regenerates requirements/*.txt and e2e/apps/requirements.txt, with all versions and hashes for all platforms, from
# pyproject.toml, build.in and requirements.in. Keeps the pinned versions unless UPGRADE=1 is set. Installs uv in a
# temporary environment.
set -eu
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$("$PWD/scripts/find_python.sh")" -m venv "$scratch"
"$scratch/bin/pip" install -q --disable-pip-version-check uv

# --no-emit-*, --no-annotate, --no-header: the files must not mention a package index or this machine.
compile() {
    "$scratch/bin/uv" pip compile -q --generate-hashes --universal --python-version 3.11 ${UPGRADE:+--upgrade} \
        --no-emit-index-url --no-emit-find-links --no-annotate --no-header "$@" >/dev/null
}
compile pyproject.toml --extra server --extra docker --extra kubernetes --extra oidc --extra mcp --extra s3 --extra egress -o requirements/run.txt
compile pyproject.toml --extra dev -c requirements/run.txt -o requirements/dev.txt
compile requirements/build.in -c requirements/dev.txt -o requirements/build.txt
compile requirements/docs.in -o requirements/docs.txt
compile requirements/compile.in -c requirements/dev.txt -o requirements/compile.txt
compile e2e/apps/requirements.in -o e2e/apps/requirements.txt
