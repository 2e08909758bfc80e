"""Shows text as it is typed, before the program has printed it, like Mosh. Does no I/O: it takes and returns bytes.

Only characters and backspaces at the end of a line are predicted and underlined, and only after the program has echoed
a character of that line. Passwords are therefore not shown, unless the program turns off echo in the middle of a line.
Before output is shown, all predictions are erased; confirmed predictions are dropped, and the rest are redrawn after
the output. A wrong prediction therefore lasts only until the next output.

The module tracks the cursor's column, and whether the row is empty to the right of it. If that is unknown (after cursor
movements, in the alternate screen, with colours, at the margin), nothing is predicted.
"""

import re
from collections import deque
from typing import Final

OPS_LIMIT: Final = 256  # maximum number of keys not yet echoed by the program
RUBOUT: Final = "\x7f"

_TOKEN = re.compile(
    r"(?P<text>[\x20-\x7e]+)"
    r"|(?P<rubout>\x08 \x08|\x08\x1b\[K)"
    r"|(?P<newline>\r*\n)"
    r"|(?P<start>\r|\x1b\[(?:1;1)?H)"
    r"|\x1b\[(?P<pen>[0-9;:]*)m"
    r"|(?P<right>\x1b\[0?K)"
    r"|(?P<below>\x1b\[0?J)"
    r"|(?P<all>\x1b\[2J)"
    r"|(?P<reset>\x1bc)"
    r"|\x1b\[\?(?:1049|1047|47)(?P<alternate>[hl])"
    r"|(?P<harmless>\x1b\[\?(?:2004|25|1|12|1004)[hl]|\x1b[=>]|\x07|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[3J)"
    r"|(?P<other>[\s\S])"
)


class PredictiveEcho:
    """The predictions for a terminal."""

    def __init__(self, cols: int, rows: int) -> None:
        """Create predictions for a screen of `cols` and `rows` with the cursor at the start of an empty row."""
        self._cols, self._rows = cols, rows
        self._ops: deque[str] = deque()  # keys typed but not yet echoed: characters and RUBOUT
        self._line = ""  # the text typed and echoed on this row, up to the cursor
        self._column: int | None = 0  # the cursor's column, disregarding predictions; None if unknown
        self._end: int | None = 0  # the first column of the empty rest of the row; None if unknown
        self._below = 0  # how many newlines must follow until the cursor is in a row known to be empty
        self._plain = True  # whether characters are printed without colours or styles
        self._alternate = False
        self._blocked = False  # whether a key with an unknown effect was typed on this line
        self._echoes = False  # whether the program has echoed a character on this line
        self._drawn: tuple[int, str] | None = None  # length of the unchanged start of `_line`, and the text after it

    def resize(self, cols: int, rows: int) -> bytes:
        """Record the new screen size; return the bytes to print."""
        if (cols, rows) == (self._cols, self._rows):
            return b""
        shown = self.withdraw()
        self._cols, self._rows = cols, rows
        self._lost()
        return shown

    def typed(self, data: bytes) -> bytes:
        """Record bytes that were typed; return the bytes to print."""
        shown = self._undo()
        for key in data.decode("latin-1"):
            rubout = key in "\x7f\x08"
            if not self._possible or not (" " <= key <= "~" or (rubout and self._view)) or len(self._ops) >= OPS_LIMIT:
                self._blocked = True
                break
            self._ops.append(RUBOUT if rubout else key)
        return shown + self._draw()

    def received(self, data: bytes) -> bytes:
        """Handle output; return the bytes to print."""
        shown = self._undo()
        for token in _TOKEN.finditer(data.decode("latin-1")):
            self._take(token)
        return shown + data + self._draw()

    def withdraw(self) -> bytes:
        """Forget all predictions; return the bytes that erase them."""
        self._ops.clear()
        return self._undo()

    # ---- state

    @property
    def _possible(self) -> bool:
        at_end = self._column is not None and self._column == self._end
        return at_end and self._plain and not self._alternate and not self._blocked

    @property
    def _view(self) -> str:
        """Return the line as it will look once all keys have been echoed."""
        view = self._line
        for op in self._ops:
            view = view[:-1] if op == RUBOUT else view + op
        return view

    def _take(self, token: re.Match[str]) -> None:
        match token.lastgroup:
            case "text":
                self._printed(token[0])
            case "rubout" if self._column:
                self._confirm(RUBOUT)
                self._end = self._column - 1 if self._end == self._column or token[0][-1] == "K" else self._end
                self._column -= 1
            case "newline":
                self._newline(0 if token[0][0] == "\r" else self._column)
            case "start":
                self._wrong()
                self._column = 0
                if token[0] != "\r":
                    self._end, self._below = None, self._rows
            case "right" | "below" | "all":
                self._erased(token.lastgroup)
            case "pen":
                self._plain = re.split("[;:]", token["pen"])[-1].strip("0") == ""
                self._plain = self._plain and ":" not in token["pen"]
            case "reset":
                self._wrong()
                self._column, self._end, self._below, self._plain, self._alternate = 0, 0, 0, True, False
            case "alternate":
                self._alternate = token["alternate"] == "h"
                self._lost()
            case "harmless":
                pass
            case _:
                self._lost()

    def _printed(self, text: str) -> None:
        for index, character in enumerate(text):
            if not self._ops:
                self._wrong()
                self._move(len(text) - index)
                return
            self._confirm(character)
            self._move(1)

    def _move(self, count: int) -> None:
        if self._column is None:
            return
        self._column += count
        self._end = None if self._end is None else max(self._end, self._column)
        if self._column >= self._cols:  # the next character goes into the next row
            self._column = self._end = None

    def _newline(self, column: int | None) -> None:
        self._wrong()
        self._blocked = False
        self._below = max(self._below - 1, 0)
        self._column = column
        self._end = None if self._below else column

    def _erased(self, what: str) -> None:
        self._end = self._column
        if what != "right":
            self._below = 0

    def _confirm(self, op: str) -> None:
        """Record that a character was printed or removed."""
        if not self._ops or self._ops[0] != op:
            self._wrong()
            return
        self._ops.popleft()
        self._echoes = True
        self._line = self._line[:-1] if op == RUBOUT else self._line + op

    def _wrong(self) -> None:
        self._ops.clear()
        self._line, self._echoes = "", False

    def _lost(self) -> None:
        self._wrong()
        self._column = self._end = None
        self._below = self._rows

    # ---- on the screen

    def _draw(self) -> bytes:
        view, line = self._view, self._line
        at_end = self._column is not None and self._column == self._end
        if not (self._ops and self._echoes and at_end and self._plain and not self._alternate):
            return b""
        assert self._column is not None
        if self._column - len(line) + len(view) >= self._cols - 1:
            self._blocked = True
            return b""
        same = next((n for n, (a, b) in enumerate(zip(line, view, strict=False)) if a != b), min(len(line), len(view)))
        tail = view[same:]
        self._drawn = (same, tail)
        removed = len(line) - same
        return (
            _left(removed) + (b"\x1b[4m" + tail.encode() + b"\x1b[24m" if tail else b"") + _blank(removed - len(tail))
        )

    def _undo(self) -> bytes:
        """Return the bytes that erase the predictions."""
        if self._drawn is None:
            return b""
        same, tail = self._drawn
        self._drawn = None
        removed = self._line[same:]
        return _left(len(tail)) + removed.encode() + _blank(len(tail) - len(removed))


def _left(count: int) -> bytes:
    return b"\x1b[%dD" % count if count else b""


def _blank(count: int) -> bytes:
    """Erase characters from the cursor on, without moving it (ECH)."""
    return b"\x1b[%dX" % count if count > 0 else b""
