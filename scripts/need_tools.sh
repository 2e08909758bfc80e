#!/bin/sh
# need_tools.sh [LIST]: as root on Debian, installs the packages in LIST (default: tests/debian-packages.txt) that are
# missing or whose programs are missing. On other systems, and for other users, it fails and names the packages to
# install. scripts/find_chromium.sh and scripts/find_firefox.sh find the browsers.
set -eu
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/.."
list=${1:-tests/debian-packages.txt}

packages=
while read -r package programs _; do
    case $package in '' | '#'* | chromium-headless-shell | firefox*) continue ;; esac
    if [ "$programs" = - ]; then
        if can_apt && ! dpkg -s "$package" >/dev/null 2>&1; then packages="$packages $package"; fi
        continue
    fi
    for program in $(echo "$programs" | tr , ' '); do
        command -v "$program" >/dev/null 2>&1 || { packages="$packages $package"; break; }
    done
done <"$list"

[ -n "$packages" ] || exit 0
if can_apt; then
    # shellcheck disable=SC2086 # each word is a package
    apt_install $packages || die "cannot install packages that the tests need:$packages"
else
    die "the tests need programs that are not installed. Install these packages and try again: sudo apt-get install$packages"
fi
