#!/bin/sh
# pytest, with a folder of its own for what tests write: what an earlier run left cannot fail this one, and nothing
# stays. After a failure it is kept, to be looked at. Its name is short, since the paths of sockets have to be.
set -eu
. "$(dirname "$0")/lib.sh"

own=$(mktemp -d "${TMPDIR:-/tmp}/hawse-tests.XXXXXX")
.venv/bin/pytest --basetemp="$own/t" "$@" || { code=$?; say "what the tests left is in $own"; exit "$code"; }
rm -rf "$own"
