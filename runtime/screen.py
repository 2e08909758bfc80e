"""What a terminal shows: libghostty's emulator (through pyghostty) fed with the output, and its snapshot as VT bytes.

The screen is a sidecar: it lags behind the journal on purpose (`fed`), is brought up to date in large steps, and
never stands between a program and its viewers. It is only ever fed whole sequences (`boundary`), so `fed` is
always a place from which an emulator can go on reading.
"""

import logging
import re
from collections.abc import Callable

from pyghostty import Terminal as Emulator
from pyghostty._ffi import check, ffi, lib
from pyghostty.core import init_sized

from runtime.boundary import HOLD_LIMIT, safe_cut
from runtime.journal import Journal

log = logging.getLogger(__name__)

SCROLLBACK_LINES = 6000  # the web page keeps 5000; libghostty drops whole pages, so it may hold 600 less
SCROLLBACK_BYTES = 16 << 20
_TERMINAL_EXTRA = ("modes", "scrolling_region", "tabstops", "pwd", "keyboard")
_SCREEN_EXTRA = ("cursor", "style", "hyperlink", "protection", "kitty_keyboard", "charsets")
_ENTER_ALTERNATE = re.compile(rb"\x1b\[\?(?:[0-9]+;)*(?:1049|1047|47)(?:;[0-9]+)*h")
_ALTERNATE_MODES = (1049, 1047, 47)


class Screen:
    """An emulator that follows a journal. `fed` is the absolute offset up to which it has read."""

    def __init__(self, cols: int, rows: int, *, reply: Callable[[bytes], None] | None = None) -> None:
        """`reply` is called, while output is fed, with what the emulator answers to queries in it."""
        self.cols = cols
        self.rows = rows
        self.fed = 0
        self._emulator = Emulator(cols, rows, scrollback=SCROLLBACK_LINES)
        limit = ffi.new("size_t*", SCROLLBACK_BYTES)
        check(
            lib.ghostty_terminal_set(self._emulator._t[0], lib.GHOSTTY_TERMINAL_OPT_SCROLLBACK_MAX_BYTES, limit),
            "set scrollback bytes",
        )
        self._primary = b""  # the primary screen as it was when the alternate one was entered
        if reply is not None:
            self._emulator.on_reply(reply)

    def catch_up(self, journal: Journal, to: int) -> None:
        """Feed the journal's bytes up to `to`, short of a sequence that is not finished there."""
        self.fed = max(self.fed, journal.start)  # cannot happen while the terminal keeps the screen near
        while self.fed < to:
            data = b""
            while len(data) < 4 * HOLD_LIMIT and self.fed + len(data) < to:
                at = self.fed + len(data)
                data += journal.read(at, to - at)
            cut = safe_cut(data)
            if cut == 0:
                return
            self._feed(data[:cut])
            self.fed += cut

    def resize(self, cols: int, rows: int) -> None:
        self.cols, self.rows = cols, rows
        self._emulator.resize(cols, rows)

    def text(self) -> str:
        """The visible screen as text, one line a row."""
        return str(self._emulator.text())

    def snapshot(self) -> bytes:
        """VT bytes that paint this screen, and its scrollback, on a reset emulator of the same size."""
        if not self._alternate():
            return self._format()
        return self._primary + b"\x1b[?1049h\x1b[H" + self._format()

    def close(self) -> None:
        self._emulator.close()

    def _feed(self, data: bytes) -> None:
        position = 0
        for match in _ENTER_ALTERNATE.finditer(data):
            self._emulator.feed(data[position : match.start()])
            position = match.start()
            if not self._alternate():
                self._primary = self._format()
        self._emulator.feed(data[position:])
        if self._primary and not self._alternate():
            self._primary = b""

    def _alternate(self) -> bool:
        return any(self._emulator.mode(mode) for mode in _ALTERNATE_MODES)

    def _format(self) -> bytes:
        options = init_sized("GhosttyFormatterTerminalOptions")
        options.emit = lib.GHOSTTY_FORMATTER_FORMAT_VT
        options.unwrap = True  # soft wraps are made again by who reads it
        options.trim = False
        for name in _TERMINAL_EXTRA:
            setattr(options.extra, name, True)
        for name in _SCREEN_EXTRA:
            setattr(options.extra.screen, name, True)
        formatter = ffi.new("GhosttyFormatter*")
        check(
            lib.ghostty_formatter_terminal_new(ffi.NULL, formatter, self._emulator._t[0], options[0]), "new formatter"
        )
        written, text = ffi.new("size_t*"), ffi.new("uint8_t**")
        try:
            check(lib.ghostty_formatter_format_alloc(formatter[0], ffi.NULL, text, written), "format")
            return bytes(ffi.buffer(text[0], written[0]))
        finally:
            lib.ghostty_free(ffi.NULL, text[0], written[0])
            lib.ghostty_formatter_free(formatter[0])
