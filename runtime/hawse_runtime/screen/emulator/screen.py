"""A terminal's screen: libghostty's emulator (through pyghostty), with snapshots in the form of VT bytes."""

from collections.abc import Callable

from hawse_runtime.screen.emulator.ghostty import CANCEL, extra, handle, unfinished as unfinished_sequence
from hawse_runtime.screen.emulator.libghostty import Emulator, check, ffi, lib
from hawse_runtime.screen.emulator.snapshot import end_overlong, erase_cut_characters, paint, soft_reset
from hawse_runtime.screen.requests import SCROLLBACK_LINES

ALL = SCROLLBACK_LINES
SCROLLBACK_BYTES = 16 << 20  # maximum size of the scrollback in bytes, regardless of the number of rows
UNLIMITED = 1 << 31  # rows
# Prompt and command marks. Unlike xterm.js, libghostty acts on them: it starts a new line before a prompt, erases
# the prompt on a resize, and moves the screen into the scrollback instead of clearing it.
MARK = b"\x1b]133;"
UNKNOWN = b"\x1b]139;"  # a sequence that has no effect
SOFT_RESET = b"\x1b[!p"  # DECSTR, which libghostty does not implement
SEQUENCE_BYTES = 4 << 20  # maximum length of an unfinished sequence (such as an image) in a snapshot


class Screen:
    """An emulator that reads a terminal's output."""

    def __init__(
        self, cols: int, rows: int, *, reply: Callable[[bytes], None] | None = None, scrollback: int = SCROLLBACK_LINES
    ) -> None:
        """Create an empty screen. The emulator passes its answers to queries in the output to `reply`."""
        self.cols = cols
        self.rows = rows
        self._fed = 0  # number of output bytes read
        self._whole_at = 0  # the latest offset known to be outside any sequence
        self._ask_at = 0  # `whole` doesn't check the output again before this offset
        self._cut = b""  # the start of a sequence that needs correction, if the output ends inside one
        self._scrollback = scrollback
        self.closed = False
        # Limit the scrollback by bytes only, because libghostty then reuses its oldest page. With a row limit, it
        # returns each page to the kernel and allocates a new one: 100 MB of short lines took 16 s instead of 2 s.
        self._emulator = Emulator(cols, rows, scrollback=UNLIMITED)
        self._bound_scrollback()
        _set(self._emulator, lib.GHOSTTY_TERMINAL_OPT_CONTINUATION_MAX_BYTES, SEQUENCE_BYTES)
        # Programs can't select this default shape, so any other shape must have been selected by a program.
        default = ffi.new("int*", lib.GHOSTTY_TERMINAL_CURSOR_STYLE_BLOCK_HOLLOW)
        check(
            lib.ghostty_terminal_set(handle(self._emulator), lib.GHOSTTY_TERMINAL_OPT_DEFAULT_CURSOR_STYLE, default),
            "set",
        )
        self._replies = _ReplyGate(reply)
        if reply is not None:
            self._emulator.on_reply(self._replies)

    def feed(self, data: bytes) -> None:
        """Read output. A snapshot can be taken only if the output read so far ends with a complete character."""
        *before, last = self._corrected(data).split(SOFT_RESET)
        for part in before:
            self._emulator.feed(part)
            soft_reset(handle(self._emulator))
        self._emulator.feed(last)
        self._fed += len(data)

    def _corrected(self, data: bytes) -> bytes:
        """Return `data` with marks removed and soft resets completed."""
        cut, data = self._cut, self._cut + data
        self._cut = b""
        for sequence in (MARK, SOFT_RESET):
            size = next((n for n in range(len(sequence) - 1, 0, -1) if data.endswith(sequence[:n])), 0)
            self._cut = max(self._cut, data[len(data) - size :], key=len)
        data = data.replace(MARK, UNKNOWN)
        # The emulator has already read the start of the first sequence. CAN cancels a sequence that must not be
        # completed.
        return data[len(cut) :] if data.startswith(cut) and not data.startswith(SOFT_RESET) else CANCEL + data

    def resize(self, cols: int, rows: int) -> None:
        self.cols, self.rows = cols, rows
        self._emulator.resize(cols, rows)
        erase_cut_characters(handle(self._emulator))
        self._bound_scrollback()

    @property
    def emulator(self) -> Emulator:
        """The emulator. Callers must not modify it."""
        return self._emulator

    def text(self) -> str:
        """Return the visible screen as text, one line per row."""
        return str(self._emulator.text())

    def snapshot(self, scrollback: int = ALL) -> bytes:
        """Return VT bytes that paint this screen and some scrollback on a freshly reset emulator of the same size.

        The bytes end with the start of any unfinished sequence, so that output can follow immediately
        (docs/decisions/0005).
        """
        end_overlong(handle(self._emulator))
        # Painting may feed an unfinished sequence in again, which must not be answered twice.
        self._replies.muted = True
        try:
            return paint(handle(self._emulator), min(scrollback, self._scrollback))
        finally:
            self._replies.muted = False

    def close(self) -> None:
        """Release the emulator. Can be called more than once."""
        if not self.closed:
            self.closed = True
            self._emulator.on_reply(None)  # breaks a reference cycle, which frees the memory at once
            self._emulator.close()

    @property
    def whole(self) -> bool:
        """Whether the output ends outside any sequence. If not, the next letter might complete a query.

        Inside a long sequence, such as an image, this is checked less often, because the check copies the sequence.
        """
        if self._whole_at != self._fed and self._fed >= self._ask_at:
            left = unfinished_sequence(handle(self._emulator))
            if left == b"":
                self._whole_at = self._fed
            else:
                self._ask_at = self._fed + (SEQUENCE_BYTES if left is None else len(left)) // 8
        return self._whole_at == self._fed

    @property
    def calm(self) -> bool:
        """Whether text has its usual effect: the screen is `whole`, and all of it scrolls."""
        return self.whole and not extra(handle(self._emulator), ("scrolling_region",))

    def _bound_scrollback(self) -> None:
        size = min(self._scrollback * (10 * self.cols + 64), SCROLLBACK_BYTES)  # sizes of a cell and a row, as measured
        _set(self._emulator, lib.GHOSTTY_TERMINAL_OPT_SCROLLBACK_MAX_BYTES, size)


class _ReplyGate:
    """Forwards an emulator's replies unless `muted` is set."""

    def __init__(self, reply: Callable[[bytes], None] | None) -> None:
        self._reply = reply
        self.muted = False

    def __call__(self, data: bytes) -> None:
        if self._reply is not None and not self.muted:
            self._reply(data)


def _set(emulator: Emulator, option: int, value: int) -> None:
    check(lib.ghostty_terminal_set(handle(emulator), option, ffi.new("size_t*", value)), "set option")
