#!/bin/sh
# Prints the path of a Chromium that starts; installs one if there is none. In this order: $HAWSE_CHROMIUM; a Chrome or
# Chromium on PATH; the one that Playwright has installed; Debian's package (as root); Playwright's download.
set -eu
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/.."

# A program of that name may not start: Ubuntu's chromium-browser only prints that a snap has to be installed.
starts() { "$1" --version >/dev/null 2>&1; }

answer() { echo "$1"; exit 0; }

on_path() {
    for name in google-chrome google-chrome-stable chromium chromium-browser; do
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
on_path
of_playwright
if can_apt && grep -q '^ID=debian' /etc/os-release 2>/dev/null; then
    if apt_install chromium; then on_path; fi
fi
say "downloading a Chromium with Playwright"
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then with_deps=--with-deps; else with_deps=; fi
.venv/bin/playwright install $with_deps chromium </dev/null >&2 || say "the download failed"
of_playwright
die "found no Chromium for the browser tests. Install one (Debian: apt-get install chromium), or name it: HAWSE_CHROMIUM=/path/to/chromium make test"
