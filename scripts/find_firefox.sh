#!/bin/sh
# find_firefox.sh: prints the path of a Firefox that starts. Tries, in this order: $HAWSE_FIREFOX; firefox-esr on PATH;
# its Debian package (as root); firefox on PATH.
set -eu
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/.."

# Start the program, because its name is not enough: Ubuntu's firefox only asks to install a snap.
starts() { "$1" --version >/dev/null 2>&1; }

on_path() {
    path=$(command -v "$1" 2>/dev/null) || return 0
    if starts "$path"; then echo "$path"; exit 0; fi
}

if [ -n "${HAWSE_FIREFOX:-}" ]; then
    starts "$HAWSE_FIREFOX" || die "HAWSE_FIREFOX is $HAWSE_FIREFOX, which does not start."
    echo "$HAWSE_FIREFOX"
    exit 0
fi
on_path firefox-esr
if can_apt && grep -q '^ID=debian' /etc/os-release 2>/dev/null && apt_install firefox-esr; then on_path firefox-esr; fi
on_path firefox
die "cannot find a Firefox for the browser tests. Install one (Debian: apt-get install firefox-esr), or set its path: HAWSE_FIREFOX=/path/to/firefox make test"
