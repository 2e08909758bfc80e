"""Runs in a terminal: prints numbered lines and logs every byte that is typed, until a `!` is typed.

    python flood.py LOG BURST PAUSE [WINDOW]

prints `ready`, then numbered lines (BURST at a time, PAUSE seconds apart), and after the `!` the number of lines. Its
input is appended to LOG.

With WINDOW, it prints at most that many bytes beyond the offset that the reader acknowledges by typing `aOFFSET.`.
Without WINDOW, an interruption on a slow machine could let it print more than the terminal's journal keeps.
"""

import os
import re
import select
import sys
import termios
import time
import tty

LINE = b"%08d\r\n"
SEEN = re.compile(rb"a(\d+)\.")
READY = b"ready\r\n"
DONE = b"done %d\r\n"
END = b"!"


def check(output: bytes) -> int:
    """Return the number of lines of a finished flood. Raises AssertionError unless `output` is exactly such a flood."""
    end = re.search(rb"done (\d+)\r\n\Z", output)
    assert end is not None, output[-100:]
    count = int(end[1])
    expected = READY + b"".join(LINE % n for n in range(count)) + DONE % count
    assert len(output) == len(expected)
    assert output == expected
    return count


def main() -> None:
    log_path, burst, pause = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    window = int(sys.argv[4]) if len(sys.argv) > 4 else None
    before = termios.tcgetattr(0)
    tty.setraw(0)
    os.write(1, READY)
    try:
        with open(log_path, "ab", buffering=0) as log:
            count = flood(log, burst, pause, window)
        write_all(DONE % count)
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)


def flood(log, burst: int, pause: float, window: int | None) -> int:
    printed, waiting, ended, typed = 0, b"", False, b""
    size, seen = len(LINE % 0), 0
    due = time.monotonic()
    while waiting or not ended:
        now = time.monotonic()
        may_print = window is None or printed * size < seen + window
        if not waiting and not ended and now >= due and may_print:
            waiting = b"".join(LINE % n for n in range(printed, printed + burst))
            printed, due = printed + burst, now + pause
        timeout = None if waiting or not may_print else max(0.0, due - now)
        readable, writable, _ = select.select([0], [1] if waiting else [], [], timeout)
        if readable:
            data = os.read(0, 65536)
            log.write(data)
            ended = ended or not data or END in data
            if window is not None:
                typed += data
                seen = max([seen, *map(int, SEEN.findall(typed))])
                typed = typed[typed.rfind(b".") + 1 :]
        if writable:
            waiting = waiting[os.write(1, waiting) :]
    return printed


def write_all(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


if __name__ == "__main__":
    main()
