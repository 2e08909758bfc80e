#!/bin/sh
# Makes .venv unless a working one exists, and installs packages in it:
#   venv.sh run    those that `hawse serve` needs
#   venv.sh dev    also those that tests and checks need
# Packages come from requirements/*.txt, checked by hash. These files name each package that is needed, so pip resolves
# nothing (--no-deps): asked for an extra of a pinned package, it takes the newest version and refuses it, as it is not pinned.
# The project itself is installed editable.
set -eu
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/.."
state=$1

works() { .venv/bin/python -c 'import sys, pip; assert sys.version_info >= (3, 11)' >/dev/null 2>&1; }

if ! works; then
    python=$("$PWD/scripts/find_python.sh")
    if ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        # On Debian and Ubuntu these are in a separate package for each version of Python.
        package=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
        if can_apt; then
            apt_install "$package" || die "could not install $package, which $python needs to make virtual environments."
        else
            die "$python cannot make virtual environments. Install the missing package, then try again: sudo apt-get install $package"
        fi
    fi
    say "making .venv with $python"
    rm -rf .venv
    "$python" -m venv .venv || die "$python could not make a virtual environment in .venv"
fi

pip() { .venv/bin/python -m pip --disable-pip-version-check "$@"; }

say "installing Python packages ($state)"
case $state in
    run) pip install -q --no-deps --require-hashes -r requirements/run.txt -r requirements/build.txt ;;
    dev) pip install -q --no-deps --require-hashes -r requirements/dev.txt ;;
    *) die "venv.sh run|dev" ;;
esac
pip install -q --no-deps --no-build-isolation --editable .
# So that each start of a gateway loads compiled modules, also where PYTHONDONTWRITEBYTECODE is set.
.venv/bin/python -m compileall -q hawse gateway runtime
