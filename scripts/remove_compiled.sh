#!/bin/sh
# remove_compiled.sh [outdated]: removes the modules compiled by `make compile`, so that Python imports the sources
# again. With `outdated`, removes them only if a source has changed since.
set -eu
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/.."

compiled() { find hawse runtime gateway -name '*.so' "$@"; }

library=$(compiled -path 'hawse/compiled__mypyc.*')
[ -n "$library" ] || [ -n "$(compiled)" ] || exit 0
if [ "${1:-}" = outdated ] && [ -n "$library" ]; then
    [ -n "$(find hawse runtime gateway -name '*.py' -newer "$library")" ] || exit 0
    say "sources have changed since \`make compile\`; removing the compiled modules"
fi
compiled -delete
