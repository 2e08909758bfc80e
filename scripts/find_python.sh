#!/bin/sh
# Prints the first Python on PATH that is 3.11 or newer ($PYTHON first, where it is set). It has to be run
# to know: pyenv has shims also for versions that are not active.
set -eu
. "$(dirname "$0")/lib.sh"

for name in ${PYTHON:-} python3 python python3.13 python3.12 python3.11 python3.14; do
    path=$(command -v "$name" 2>/dev/null) || continue
    # sys.executable, not the name: which Python a shim starts depends on the directory.
    if found=$("$path" -c 'import sys; assert sys.version_info >= (3, 11); print(sys.executable)' 2>/dev/null); then
        echo "$found"
        exit 0
    fi
done
die "needs Python 3.11 or newer, but none is on PATH. Install one (Debian 12, Ubuntu 24.04 and later: apt-get install python3 python3-venv), or give its path: make run PYTHON=/path/to/python3.12"
