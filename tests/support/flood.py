"""Runs in a terminal: floods it with numbered lines and notes every byte that is typed.

    python flood.py LOG LINES BURST PAUSE

prints LINES lines (line n is n as 8 digits), BURST at a time with PAUSE seconds between, and appends what it reads to LOG.
It ends when all is printed and a `!` was typed, or at the end of its input.
"""

import os
import select
import sys
import termios
import time
import tty

LINE = b"%08d\r\n"
READY = b"ready\r\n"
END = b"!"


def main() -> None:
    log_path, lines, burst, pause = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    before = termios.tcgetattr(0)
    tty.setraw(0)
    os.write(1, READY)
    try:
        with open(log_path, "ab", buffering=0) as log:
            flood(log, lines, burst, pause)
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)


def flood(log, lines: int, burst: int, pause: float) -> None:
    printed, ended, waiting = 0, False, b""
    due = time.monotonic()
    while printed < lines or waiting or not ended:
        now = time.monotonic()
        if not waiting and printed < lines and now >= due:
            stop = min(printed + burst, lines)
            waiting = b"".join(LINE % n for n in range(printed, stop))
            printed, due = stop, now + pause
        more = printed < lines
        timeout = max(0.0, due - now) if more else None
        readable, writable, _ = select.select([0], [1] if waiting else [], [], timeout)
        if readable:
            data = os.read(0, 65536)
            log.write(data)
            if not data or END in data:
                ended = True
        if writable:
            waiting = waiting[os.write(1, waiting) :]


if __name__ == "__main__":
    main()
