#!/bin/sh
# find_chromium.sh [--with-interface]: prints the path of a Chromium that starts, and installs one if necessary. Tries,
# in this order: $HAWSE_CHROMIUM; Chromium's headless shell on PATH; its Debian package (as root); a Chrome or Chromium on
# PATH; the Chromium installed by Playwright; a download by Playwright. The headless shell is Chromium without its user
# interface, which uses two thirds of the CPU time of a browser test. With --with-interface, it is not used.
set -eu
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/.."

# Start the program, because its name is not enough: Ubuntu's chromium-browser only asks to install a snap.
starts() { "$1" --version >/dev/null 2>&1; }

answer() { echo "$1"; exit 0; }

on_path() {
    for name in "$@"; do
        path=$(command -v "$name" 2>/dev/null) || continue
        if starts "$path"; then answer "$path"; fi
    done
}

of_playwright() {
    path=$(.venv/bin/python -c '
from playwright.sync_api import sync_playwright
with sync_playwright() as p:
    print(p.chromium.executable_path)' 2>/dev/null) || return 0
    if starts "$path"; then answer "$path"; fi
}

if [ -n "${HAWSE_CHROMIUM:-}" ]; then
    starts "$HAWSE_CHROMIUM" || die "HAWSE_CHROMIUM is $HAWSE_CHROMIUM, which does not start."
    answer "$HAWSE_CHROMIUM"
fi
on_debian() { can_apt && grep -q '^ID=debian' /etc/os-release 2>/dev/null; }

if [ "${1:-}" != --with-interface ]; then
    on_path chromium-headless-shell
    if on_debian && apt_install chromium-headless-shell; then on_path chromium-headless-shell; fi
fi
on_path google-chrome google-chrome-stable chromium chromium-browser
of_playwright
if on_debian && apt_install chromium; then on_path chromium; fi
say "downloading a Chromium with Playwright"
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then with_deps=--with-deps; else with_deps=; fi
.venv/bin/playwright install $with_deps chromium </dev/null >&2 || say "the download failed"
of_playwright
die "cannot find a Chromium for the browser tests. Install one (Debian: apt-get install chromium), or set its path: HAWSE_CHROMIUM=/path/to/chromium make test"
