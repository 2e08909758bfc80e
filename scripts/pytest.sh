#!/bin/sh
# Runs pytest with a temporary directory of its own: files of an earlier run can't fail this one. The directory is removed
# afterwards; after a failure it is kept. Its path is short, because the path of a Unix socket has at most 107 bytes.
set -eu
. "$(dirname "$0")/lib.sh"

own=$(mktemp -d "${TMPDIR:-/tmp}/hawse-tests.XXXXXX")
.venv/bin/pytest --basetemp="$own/t" "$@" || { code=$?; say "the files of the tests are in $own"; exit "$code"; }
rm -rf "$own"
