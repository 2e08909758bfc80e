#!/bin/sh
# Prints the path of the first Python on PATH that is 3.11 or newer, or of $PYTHON if that is set and new enough. Each
# candidate is run, because pyenv also has shims for versions that are not active.
set -eu
. "$(dirname "$0")/lib.sh"

for name in ${PYTHON:-} python3 python python3.13 python3.12 python3.11 python3.14; do
    path=$(command -v "$name" 2>/dev/null) || continue
    # sys.executable instead of the name, because a shim selects the Python by the current directory.
    if found=$("$path" -c 'import sys; assert sys.version_info >= (3, 11); print(sys.executable)' 2>/dev/null); then
        echo "$found"
        exit 0
    fi
done
die "Python 3.11 or newer is required, but none is on PATH. Install one (Debian 12, Ubuntu 24.04 and later: apt-get install python3 python3-venv), or set its path: make run PYTHON=/path/to/python3.12"
