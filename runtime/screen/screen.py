"""What a terminal shows: libghostty's emulator (through pyghostty) fed with the output, and its snapshot as VT bytes.

The screen is a sidecar: it lags behind the journal on purpose (`fed`), is brought up to date in large steps, and
never stands between a program and its viewers.
"""

from collections.abc import Callable

from pyghostty import Terminal as Emulator
from pyghostty._ffi import check, ffi, lib

from runtime.journal.journal import Journal
from runtime.screen.ghostty import extra
from runtime.screen.ghostty import unfinished as unfinished_sequence
from runtime.screen.plain_text import SHORTEST, is_plain, skippable
from runtime.screen.snapshot import end_overlong, erase_cut_characters, paint

SCROLLBACK_LINES = 6000  # rows that are kept, and shown at most; libghostty drops whole pages, so it may be 600 less
ALL = SCROLLBACK_LINES
SCROLLBACK_BYTES = 16 << 20  # however wide the rows are
UNLIMITED = 1 << 31  # rows
SEQUENCE_BYTES = 4 << 20  # of an unfinished sequence (an image, say) that a snapshot can carry


class Screen:
    """An emulator that follows a journal. `fed` is the absolute offset up to which it has read."""

    def __init__(
        self, cols: int, rows: int, *, reply: Callable[[bytes], None] | None = None, scrollback: int = SCROLLBACK_LINES
    ) -> None:
        """`reply` is called, while output is fed, with what the emulator answers to queries in it."""
        self.cols = cols
        self.rows = rows
        self.fed = 0
        self._plain_to = 0  # all from `fed` to there is plain text
        self._fancy_to = 0  # before that, something is not
        self._whole_at = 0  # where no sequence was unfinished, when it was fed up to there
        self._ask_at = 0  # where that is asked again
        self._scrollback = scrollback
        self._closed = False
        # Bounded by bytes alone: libghostty then uses its oldest page again. To keep to a number of rows it gives each
        # page back to the kernel and asks for a new one: that took 16 s of 100 MB of short lines, against 2.
        self._emulator = Emulator(cols, rows, scrollback=UNLIMITED)
        self._bound_scrollback()
        _set(self._emulator, lib.GHOSTTY_TERMINAL_OPT_CONTINUATION_MAX_BYTES, SEQUENCE_BYTES)
        # A shape that no program can ask for: so it is seen whether one has asked for any.
        default = ffi.new("int*", lib.GHOSTTY_TERMINAL_CURSOR_STYLE_BLOCK_HOLLOW)
        check(
            lib.ghostty_terminal_set(self._emulator._t[0], lib.GHOSTTY_TERMINAL_OPT_DEFAULT_CURSOR_STYLE, default),
            "set",
        )
        self._replies = _ReplyGate(reply)
        if reply is not None:
            self._emulator.on_reply(self._replies)

    def catch_up(self, journal: Journal, to: int) -> None:
        """Feed the journal's bytes up to `to`, short of a character that is not complete there."""
        self._forget(journal)
        if to <= self.fed:
            return
        to -= unfinished(journal.copy(max(self.fed, to - 3), to))
        self.skip(journal, to)
        while self.fed < to:
            data = bytes(journal.read(self.fed, to - self.fed))
            self._emulator.feed(data)
            self.fed += len(data)

    def may_wait(self, journal: Journal, to: int) -> bool:
        """Whether what has not been fed of the output up to `to` is plain text, so that most of it may be skipped."""
        if self.fed < self._fancy_to or not self._is_whole():
            return False
        at = max(self._plain_to, self.fed, journal.start)
        if not is_plain(journal.copy(at, to)):
            self._fancy_to = to
            return False
        self._plain_to = max(self._plain_to, to)
        return True

    def skip(self, journal: Journal, to: int) -> None:
        """Pass over what would leave no trace of the plain text up to `to`. Nothing is fed."""
        self._forget(journal)
        plain_to = min(to, self._plain_to)
        if plain_to - self.fed >= SHORTEST and self._is_calm():
            self.fed += skippable(journal.copy(self.fed, plain_to), self._scrollback + self.rows)

    def _is_whole(self) -> bool:
        """Whether no sequence is unfinished: the plainest letter may be the end of a query.

        In one that is long (an image) it is asked less often the longer it is, since each answer is a copy of it.
        """
        if self._whole_at != self.fed and self.fed >= self._ask_at:
            left = unfinished_sequence(self._emulator._t[0])
            if left == b"":
                self._whole_at = self.fed
            else:
                self._ask_at = self.fed + (SEQUENCE_BYTES if left is None else len(left)) // 8
        return self._whole_at == self.fed

    def _forget(self, journal: Journal) -> None:
        """What the journal no longer holds cannot be read. A sidecar keeps near enough that this does not happen."""
        self.fed = max(self.fed, journal.start)

    def feed(self, data: bytes) -> None:
        """Without a journal: whole characters only."""
        self._emulator.feed(data)
        self.fed += len(data)

    def resize(self, cols: int, rows: int) -> None:
        self.cols, self.rows = cols, rows
        self._emulator.resize(cols, rows)
        erase_cut_characters(self._emulator._t[0])
        self._bound_scrollback()

    @property
    def emulator(self) -> Emulator:
        """To be looked at only."""
        return self._emulator

    def text(self) -> str:
        """The visible screen as text, one line a row."""
        return str(self._emulator.text())

    def snapshot(self, scrollback: int = ALL) -> bytes:
        """VT bytes that paint this screen, and so many rows of its scrollback, on a reset emulator of the same size.

        They end with what has been read of a sequence that is not finished yet, so the output may go on at once
        from `fed`, wherever that is (docs/decisions/0005).
        """
        end_overlong(self._emulator._t[0])
        self._replies.muted = True  # an unfinished sequence may have to be cancelled, and is then fed again
        try:
            return paint(self._emulator._t[0], min(scrollback, self._scrollback))
        finally:
            self._replies.muted = False

    def close(self) -> None:
        """Also twice."""
        if not self._closed:
            self._closed = True
            self._emulator.on_reply(None)  # or it would wait for the garbage collector
            self._emulator.close()

    def _is_calm(self) -> bool:
        """Whether plain text has its plain meaning: no sequence is unfinished, and all of the screen scrolls."""
        terminal = self._emulator._t[0]
        return unfinished_sequence(terminal) == b"" and not extra(terminal, ("scrolling_region",))

    def _bound_scrollback(self) -> None:
        size = min(self._scrollback * (10 * self.cols + 64), SCROLLBACK_BYTES)  # what its rows take, measured
        _set(self._emulator, lib.GHOSTTY_TERMINAL_OPT_SCROLLBACK_MAX_BYTES, size)


class _ReplyGate:
    """Passes on the replies of an emulator, unless it is `muted`."""

    def __init__(self, reply: Callable[[bytes], None] | None) -> None:
        self._reply = reply
        self.muted = False

    def __call__(self, data: bytes) -> None:
        if self._reply is not None and not self.muted:
            self._reply(data)


def unfinished(data: bytes) -> int:
    """How many bytes at the end of `data` begin a UTF-8 character that is not complete (RFC 3629)."""
    for back in range(1, min(3, len(data)) + 1):
        byte = data[-back]
        if byte < 0x80:
            return 0
        if byte >= 0xC0:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return back if back < needed and byte < 0xF8 else 0
    return 0


def _set(emulator: Emulator, option: int, value: int) -> None:
    check(lib.ghostty_terminal_set(emulator._t[0], option, ffi.new("size_t*", value)), "set option")
