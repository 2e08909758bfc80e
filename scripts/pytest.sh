#!/bin/sh
# Runs pytest with a separate temporary directory, so that files of earlier runs cannot cause failures. The directory is
# removed afterwards, except after a failure. Its path is short, because a Unix socket's path has at most 107 bytes.
set -eu
. "$(dirname "$0")/lib.sh"

own=$(mktemp -d "${TMPDIR:-/tmp}/hawse-tests.XXXXXX")
.venv/bin/pytest --basetemp="$own/t" "$@" || { code=$?; say "the files of the tests are in $own"; exit "$code"; }
chmod -R u+rwx "$own" # tests create directories without write permission, which only the superuser could remove
rm -rf "$own"
