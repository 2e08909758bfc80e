#!/bin/sh
# The programs that tests drive inside a terminal. Root on Debian gets them installed; others are told what to install.
set -eu
. "$(dirname "$0")/lib.sh"

packages=
need() { command -v "$1" >/dev/null 2>&1 || packages="$packages $2"; }
need bwrap bubblewrap
need curl curl
need vim vim
need less less
need htop htop
need ps procps
need zsh zsh

[ -n "$packages" ] || exit 0
if can_apt; then
    # shellcheck disable=SC2086 # one word each
    apt_install $packages || die "could not install what the tests drive:$packages"
else
    die "the tests drive programs that this machine lacks. Install them, then try again: sudo apt-get install$packages"
fi
