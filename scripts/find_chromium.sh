#!/bin/sh
# find_chromium.sh [--with-interface]: prints the path of a Chromium that starts; installs one if there is none. In this
# order: $HAWSE_CHROMIUM; Chromium's headless shell on PATH; Debian's package of it (as root); a Chrome or Chromium on PATH;
# the one that Playwright has installed; Playwright's download. The headless shell has the engine of Chromium without its
# user interface, which takes two thirds of the CPU time of a browser test. With --with-interface it is not used.
set -eu
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/.."

# A program of that name may not start: Ubuntu's chromium-browser only prints that a snap has to be installed.
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
die "found no Chromium for the browser tests. Install one (Debian: apt-get install chromium), or name it: HAWSE_CHROMIUM=/path/to/chromium make test"
