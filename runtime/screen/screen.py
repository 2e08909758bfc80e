"""The screen of a terminal: libghostty's emulator (through pyghostty) and its snapshot as VT bytes.

The screen lags behind the journal on purpose (`fed`) and is brought up to date in large steps. It never delays the
output between a program and its viewers.
"""

from collections.abc import Callable

from pyghostty import Terminal as Emulator
from pyghostty._ffi import check, ffi, lib

from runtime.journal.journal import Journal
from runtime.screen.ghostty import extra, handle, unfinished as unfinished_sequence
from runtime.screen.scrolling_text import COUNTED, SHORTEST, LineCounts, cut_sequence, pen, scrolling_lines
from runtime.screen.snapshot import end_overlong, erase_cut_characters, paint

SCROLLBACK_LINES = 6000  # rows that are kept at most; libghostty drops whole pages, so it may keep up to 600 fewer
ALL = SCROLLBACK_LINES
SCROLLBACK_BYTES = 16 << 20  # for rows of any width
UNLIMITED = 1 << 31  # rows
SEQUENCE_BYTES = 4 << 20  # of an unfinished sequence (such as an image) that a snapshot can contain


class Screen:
    """An emulator that follows a journal. `fed` is the absolute offset up to which it has read the output."""

    def __init__(
        self, cols: int, rows: int, *, reply: Callable[[bytes], None] | None = None, scrollback: int = SCROLLBACK_LINES
    ) -> None:
        """Create an empty screen. `reply` gets the answers of the emulator to queries in the output."""
        self.cols = cols
        self.rows = rows
        self.fed = 0
        self._scrolls_to = 0  # everything from `fed` to this offset only scrolls
        self._line_counts = LineCounts()  # of what only scrolls
        self._read_to = 0  # the last offset before which something does not only scroll, and has to be read
        self._whole_at = 0  # the last offset at which no sequence was unfinished
        self._ask_at = 0  # the offset at which this is checked again
        self._scrollback = scrollback
        self.closed = False
        # Bounded by bytes only: libghostty then reuses its oldest page. To keep a number of rows it returns each
        # page to the kernel and asks for a new one, which took 16 s for 100 MB of short lines instead of 2.
        self._emulator = Emulator(cols, rows, scrollback=UNLIMITED)
        self._bound_scrollback()
        _set(self._emulator, lib.GHOSTTY_TERMINAL_OPT_CONTINUATION_MAX_BYTES, SEQUENCE_BYTES)
        # A shape that programs cannot select: another shape means that a program has selected one.
        default = ffi.new("int*", lib.GHOSTTY_TERMINAL_CURSOR_STYLE_BLOCK_HOLLOW)
        check(
            lib.ghostty_terminal_set(handle(self._emulator), lib.GHOSTTY_TERMINAL_OPT_DEFAULT_CURSOR_STYLE, default),
            "set",
        )
        self._replies = _ReplyGate(reply)
        if reply is not None:
            self._emulator.on_reply(self._replies)

    def catch_up(self, journal: Journal, to: int) -> None:
        """Feed the journal's bytes up to `to`, except an incomplete character at the end."""
        self._forget(journal)
        if to <= self.fed:
            return
        to -= unfinished(journal.copy(max(self.fed, to - 3), to))
        self.skip(journal, to)
        while self.fed < to:
            data = bytes(journal.read(self.fed, to - self.fed))
            self._emulator.feed(data)
            self.fed += len(data)

    def may_wait(self, journal: Journal, to: int, *, cut: bool = False) -> bool:
        """Return whether the output up to `to` that is not fed yet only scrolls: most of it may be skipped.

        Args:
            journal: The output.
            to: An offset in it.
            cut: Whether a sequence that sets a style may be unfinished at `to`. It may also become a query.
        """
        if self.fed < self._read_to or not self._is_whole():
            return False
        first = max(self.fed, journal.start)
        at = max(self._scrolls_to, first)
        if at >= to:
            return True
        data = journal.copy(at, to)
        if rest := cut_sequence(data):
            if not cut:
                return False
            data = data[:-rest]
        lines = scrolling_lines(data, journal.copy(max(at - 1, first), at))
        if lines is None:
            self._read_to = to
            return False
        if len(data) > 2 * COUNTED:  # more than is read at once
            for end in range(COUNTED, len(data), COUNTED):
                part = data.count(b"\n", end - COUNTED, end)
                self._line_counts.add(at + end, part)
                lines -= part
        self._line_counts.add(at + len(data), lines)
        self._scrolls_to = at + len(data)
        return True

    def skip(self, journal: Journal, to: int) -> None:
        """Skip the part of the output up to `to` that would only scroll away. Nothing but the pen is fed."""
        self._forget(journal)
        to = min(to, self._scrolls_to)
        if to - self.fed < SHORTEST:
            return
        at = self._line_counts.before(self._scrollback + self.rows, self.fed, to)
        skipped = journal.copy(self.fed, at)
        skipped = skipped[: max(0, skipped.rfind(b"\r\n"))]  # the column of the cursor does not matter before CR LF
        if skipped and self._is_calm():
            if styles := pen(skipped):
                self._emulator.feed(styles)
            self.fed += len(skipped)

    def _is_whole(self) -> bool:
        """Return whether no sequence is unfinished. A letter can be the last byte of a query.

        Within a long sequence (an image) this is checked less often, because each check copies the sequence.
        """
        if self._whole_at != self.fed and self.fed >= self._ask_at:
            left = unfinished_sequence(handle(self._emulator))
            if left == b"":
                self._whole_at = self.fed
            else:
                self._ask_at = self.fed + (SEQUENCE_BYTES if left is None else len(left)) // 8
        return self._whole_at == self.fed

    def _forget(self, journal: Journal) -> None:
        """Skip what the journal no longer holds. The screen follows closely enough that this does not happen."""
        self.fed = max(self.fed, journal.start)

    def feed(self, data: bytes) -> None:
        """Feed bytes without a journal. They must end with a complete character."""
        self._emulator.feed(data)
        self.fed += len(data)

    def resize(self, cols: int, rows: int) -> None:
        self.cols, self.rows = cols, rows
        self._emulator.resize(cols, rows)
        erase_cut_characters(handle(self._emulator))
        self._bound_scrollback()

    @property
    def emulator(self) -> Emulator:
        """The emulator, for reading only."""
        return self._emulator

    def text(self) -> str:
        """Return the visible screen as text, one line for each row."""
        return str(self._emulator.text())

    def snapshot(self, scrollback: int = ALL) -> bytes:
        """Return VT bytes that paint this screen and at most that much scrollback on a reset emulator of the same size.

        They end with the bytes of an unfinished sequence, so that the output can continue at `fed`, wherever that is
        (docs/decisions/0005).
        """
        end_overlong(handle(self._emulator))
        self._replies.muted = True  # an unfinished sequence may be cancelled and fed again
        try:
            return paint(handle(self._emulator), min(scrollback, self._scrollback))
        finally:
            self._replies.muted = False

    def close(self) -> None:
        """Release the emulator. It may be called again."""
        if not self.closed:
            self.closed = True
            self._emulator.on_reply(None)  # breaks a reference cycle, which would wait for the garbage collector
            self._emulator.close()

    def _is_calm(self) -> bool:
        """Return whether text has its usual effect: no sequence is unfinished, and the whole screen scrolls."""
        terminal = handle(self._emulator)
        return unfinished_sequence(terminal) == b"" and not extra(terminal, ("scrolling_region",))

    def _bound_scrollback(self) -> None:
        size = min(self._scrollback * (10 * self.cols + 64), SCROLLBACK_BYTES)  # the measured size of its rows
        _set(self._emulator, lib.GHOSTTY_TERMINAL_OPT_SCROLLBACK_MAX_BYTES, size)


class _ReplyGate:
    """Forwards the replies of an emulator unless it is `muted`."""

    def __init__(self, reply: Callable[[bytes], None] | None) -> None:
        self._reply = reply
        self.muted = False

    def __call__(self, data: bytes) -> None:
        if self._reply is not None and not self.muted:
            self._reply(data)


def unfinished(data: bytes) -> int:
    """Return how many bytes at the end of `data` belong to an incomplete UTF-8 character (RFC 3629)."""
    for back in range(1, min(3, len(data)) + 1):
        byte = data[-back]
        if byte < 0x80:
            return 0
        if byte >= 0xC0:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return back if back < needed and byte < 0xF8 else 0
    return 0


def _set(emulator: Emulator, option: int, value: int) -> None:
    check(lib.ghostty_terminal_set(handle(emulator), option, ffi.new("size_t*", value)), "set option")
