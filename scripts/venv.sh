#!/bin/sh
# Creates .venv unless a working one exists, and installs packages in it:
#   venv.sh run    the packages that `hawse serve` needs
#   venv.sh dev    also the packages that tests and checks need
# The packages are listed in requirements/*.txt and checked by hash. These files list all dependencies, so pip must not
# resolve any (--no-deps): for an extra of a pinned package, pip would select the newest version and then reject it,
# because that version is not pinned. The project itself is installed as editable.
set -eu
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/.."
state=$1

works() { .venv/bin/python -c 'import sys, pip; assert sys.version_info >= (3, 11)' >/dev/null 2>&1; }

if ! works; then
    python=$("$PWD/scripts/find_python.sh")
    if ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        # On Debian and Ubuntu, each Python version has a separate package with these modules.
        package=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
        if can_apt; then
            apt_install "$package" || die "cannot install $package, which $python needs to create virtual environments."
        else
            die "$python cannot create virtual environments. Install the missing package and try again: sudo apt-get install $package"
        fi
    fi
    say "creating .venv with $python"
    rm -rf .venv
    "$python" -m venv .venv || die "$python cannot create a virtual environment in .venv"
fi

pip() { .venv/bin/python -m pip --disable-pip-version-check "$@"; }

say "installing Python packages ($state)"
case $state in
    run) pip install -q --no-deps --require-hashes -r requirements/run.txt -r requirements/build.txt ;;
    dev) pip install -q --no-deps --require-hashes -r requirements/dev.txt ;;
    *) die "venv.sh run|dev" ;;
esac
pip install -q --no-deps --no-build-isolation --editable .
# Compile now, so that the gateway always loads bytecode, even if PYTHONDONTWRITEBYTECODE is set.
.venv/bin/python -m compileall -q hawse gateway runtime
