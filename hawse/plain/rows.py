"""Keeps a terminal's rows that a program can still change. Redrawn rows are replaced with their last state.

The terminal has no width, so nothing wraps. Only the last rows can be changed; rows above them are complete. Control
sequences follow ECMA-48 and xterm. Styles, titles, modes and other sequences that do not move text are dropped.
"""

import re
from typing import Final

from hawse.plain.lines import LINE_MAX, Line, size_of
from hawse.plain.notes import Notes
from hawse.plain.row import TAB, ScreenRow, cells_of

ROWS: Final = 100  # number of rows that can still be changed
COLUMNS: Final = 512  # the last column that cursor movements can reach beyond a row's text
SEQUENCE_MAX: Final = 256  # maximum length of a control sequence's parameters; a longer sequence is treated as text

_TOKEN: Final = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f-\x9f]+)"
    rf"|\x1b\[(?P<params>[\x20-\x3f]{{0,{SEQUENCE_MAX}}})(?P<final>[\x40-\x7e])?"
    r"|(?P<string>\x1b[\]PX^_])"
    r"|\x1b[\x20-\x2f]{0,8}(?P<escape>[\x30-\x7e])?"
    r"|(?P<control>[\x00-\x1f\x7f-\x9f])"
)
_PARTIAL: Final = re.compile(rf"(?:\r|\x1b(?:\[[\x20-\x3f]{{0,{SEQUENCE_MAX}}}|[\x20-\x2f]{{0,8}}))\Z")
_STRING_END: Final = re.compile(r"[\x07\x18\x1a\n\x1b]")
_SPECIAL: Final = re.compile(r"\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")  # plain lines contain none of these
_ALTERNATE: Final = {"47", "1047", "1049"}  # modes that switch to the alternate screen


class Rows:
    """The rows that the program can still change, and the cursor."""

    def __init__(self, offset: int = 0) -> None:
        """Create an instance with one empty row. `offset` is the output offset of the first byte."""
        self._rows = [ScreenRow(offset)]
        self._y = self._x = 0
        self._at = offset  # offset of the text being processed
        self._done: list[Line] = []
        self._moved = False  # whether the cursor has moved, so that the next write may replace a complete row
        self._in_string = False  # whether the text being processed is inside a control string, such as a title
        self._page = False  # whether the program addresses the screen by row and column
        self._saved: tuple[int, int] | None = None
        self._status: str | None = None  # text written elsewhere until the cursor is restored, such as apt's progress
        self._main: tuple[list[ScreenRow], int, int, bool] | None = None  # main screen's rows, y, x, page while hidden
        self._notes = Notes()

    @property
    def latest(self) -> str:
        """The text of the row with the cursor, or of the nearest row above it that is not blank."""
        above = reversed(self._rows[: self._y + 1])
        return next((text for row in above if (text := row.current().strip())), "")

    def feed(self, text: str) -> tuple[list[Line], str]:
        """Process output. Return the completed lines, and the incomplete control sequence at the end, if any."""
        at = 0
        while at < len(text):
            if self._in_string:
                at, ended = self._skip_string(text, at)
                if not ended:
                    break
                continue
            if self._appending():
                special = _SPECIAL.search(text, at)
                stop = special.start() if special else len(text)
                if stop > at:
                    self._append(text[at:stop])
                    at = stop
                    continue
            if _PARTIAL.match(text, at):
                break
            token = _TOKEN.match(text, at)
            assert token is not None  # a token can start with any character
            self._apply(token)
            at = token.end()
        done, self._done = self._done, []
        return done, text[at:]

    def rest(self) -> list[Line]:
        """Return the lines that the program can still change, in their current state."""
        lines: list[Line] = []
        behind = self._main[0] if self._main else []
        rows = [row for row in behind if row is not behind[-1] or row.cells()] + self._rows
        for index, row in enumerate(rows):
            last = index == len(rows) - 1
            end = self._at if last else rows[index + 1].start
            lines += [Line(text, row.start, end) for text in self._notes.of(row, self._rows)]
            if (text := row.shown()) is not None and (text or not last):
                lines.append(Line(text, row.start, end, not last))
        return lines

    def _appending(self) -> bool:
        """Return whether the cursor is at the end of the last row, so that new text can simply be appended."""
        if self._status is not None or self._main is not None or self._y != len(self._rows) - 1:
            return False
        return self._x == len(self._rows[-1].cells())

    def _append(self, text: str) -> None:
        """Append lines without control characters. Fast, because most output consists of them."""
        *lines, last = text.split("\n")
        if len(lines) > 2 * ROWS and not self._notes and max(map(len, lines)) <= LINE_MAX // TAB:
            self._pass_through(lines[:-ROWS])
            lines = lines[-ROWS:]
        for number, line in enumerate(lines):
            content = line.removesuffix("\r")
            if number == 0 or len(content) > LINE_MAX // TAB:
                self._print(content)
            else:
                self._rows[-1].text = content
                self._at += size_of(content)
            self._at += len(line) - len(content) + 1
            self._rows.append(ScreenRow(self._at))
            self._y, self._x = len(self._rows) - 1, 0
            if len(self._rows) > (ROWS if self._notes else 2 * ROWS):
                self._complete(len(self._rows) - ROWS)
        if len(self._rows) > ROWS:
            self._complete(len(self._rows) - ROWS)
        self._print(last)

    def _pass_through(self, lines: list[str]) -> None:
        """Append complete short lines that are already final, because enough lines follow to fill all rows."""
        start = self._at + size_of(lines[0]) + 1
        self._print(lines[0].removesuffix("\r"))
        self._at = start
        self._complete(len(self._rows))
        for line in lines[1:]:
            self._done.append(Line(line.removesuffix("\r"), start, start := start + size_of(line) + 1))
        self._at = start
        self._rows, self._y, self._x = [ScreenRow(start)], 0, 0

    def _print(self, text: str) -> None:
        for index, part in enumerate(text.split("\t")):
            if index:
                self._tab()
                self._at += 1
            self._put(part)

    def _apply(self, token: re.Match[str]) -> None:
        kind = token.lastgroup
        if kind == "text" and self._status is None:
            self._put(token[0])
            return
        self._at += size_of(token[0])
        if kind == "text":
            self._status = ((self._status or "") + token[0])[:LINE_MAX]
        elif kind == "control":
            self._control(token[0])
        elif kind == "string":
            self._in_string = True
        elif kind == "escape":
            self._escape(token["escape"])
        elif kind == "final":
            self._sequence(token["params"], token["final"])

    def _put(self, text: str) -> None:
        """Write text at the cursor."""
        end = self._at + size_of(text)
        cells = list(text) if text.isascii() else self._combined(text)
        while cells:
            if self._x >= LINE_MAX:
                self._at = end - size_of("".join(cells))
                self._split_line()
            row = self._rows[self._y]
            part, cells = cells[: LINE_MAX - self._x], cells[LINE_MAX - self._x :]
            if self._x < len(row.cells()):
                self._keep_version(row)
            row.write(self._x, part)
            self._x += len(part)
        self._at = end

    def _combined(self, text: str) -> list[str]:
        """Return the cells of a text. The second cell of a wide character is empty. Combining characters at the start
        are added to the cell before the cursor.
        """
        row = self._rows[self._y].cells()
        if not 0 < self._x <= len(row):
            return cells_of(text)
        row[self._x - 1], *cells = cells_of(text, row[self._x - 1])
        return cells

    def _tab(self) -> None:
        if self._x >= LINE_MAX:
            self._split_line()
        row = self._rows[self._y]
        width = TAB - self._x % TAB
        if self._x >= len(row.cells()):
            row.write(self._x, ["\t"] + [""] * (width - 1))
        self._x += width

    def _split_line(self) -> None:
        """Complete the cursor's row because it has reached the maximum length, and continue in a new row."""
        self._complete(self._y + 1, ended=False)
        self._rows.insert(0, ScreenRow(self._at))
        self._y = self._x = 0

    def _control(self, char: str) -> None:
        self._moved = True
        if char == "\n":
            self._feed_line()
        elif char == "\t" and self._status is None:
            self._tab()
        elif char in "\r\b":
            self._x = max(self._x - 1, 0) if char == "\b" else 0

    def _feed_line(self) -> None:
        if self._status is not None:  # the cursor was not restored, so `_status` is ordinary text
            text, self._status, self._saved = self._status, None, None
            self._y, self._x = len(self._rows) - 1, len(self._rows[-1].cells())
            at = self._at
            self._put(text)
            self._at = at
        self._y, self._x = self._y + 1, 0
        if self._y == len(self._rows):
            self._rows.append(ScreenRow(self._at))
            if len(self._rows) > ROWS:
                self._complete(len(self._rows) - ROWS)

    def _escape(self, final: str) -> None:
        if final == "c":
            self._clear()
        elif final in "78":
            self._sequence("", "s" if final == "7" else "u")
        elif final in "DM":
            self._sequence("", "B" if final == "D" else "A")
        elif final == "E":
            self._feed_line()
        self._moved = True

    def _sequence(self, params: str, final: str) -> None:
        if params[:1] == "?" and final in "hl" and _ALTERNATE.intersection(params[1:].split(";")):
            self._alternate(final == "h")
        if not all(char.isdigit() or char == ";" for char in params):
            return
        numbers = [int(number or "0") for number in params.split(";")]
        count = max(numbers[0], 1)
        if final in "Hf":
            self._move_to(count - 1, (numbers[1] if len(numbers) > 1 else 1) - 1)
        elif final == "s":
            self._saved = (self._y, self._x)
        elif final == "u":
            self._restore()
        elif self._status is None:
            self._move_or_erase(numbers[0], count, final)

    def _move_or_erase(self, number: int, count: int, final: str) -> None:
        row = self._rows[self._y]
        if final in "AF":
            self._y = max(self._y - count, 0)
        elif final in "BEe":
            self._y = min(self._y + count, len(self._rows) - 1)
        elif final == "d":
            self._move_to(count - 1, self._x)
        elif final in "Ca":
            self._x = min(self._x + count, max(COLUMNS, len(row.cells())))
        elif final == "D":
            self._x = max(self._x - count, 0)
        elif final in "G`":
            self._x = min(count - 1, max(COLUMNS, len(row.cells())))
        elif final == "J":
            self._erase_display(number)
        elif final in "KPX":
            self._erase(final, number, count)
            return
        if final in "EF":
            self._x = 0
        self._moved = True

    def _erase(self, final: str, number: int, count: int) -> None:
        """Erase part of the cursor's row."""
        row, x = self._rows[self._y], self._x
        cells = row.cells()
        if (x >= len(cells) and (final != "K" or number == 0)) or not cells:
            return
        self._moved = self._moved or x >= len(cells)
        self._keep_version(row)
        if final == "K" and number == 1:
            row.blank(0, x + 1)
        elif final == "K":
            row.cut(0 if number == 2 else x)
        elif final == "X":
            row.blank(x, count)
        else:
            row.delete(x, count)

    def _erase_display(self, number: int) -> None:
        if number == 0:
            self._erase("K", 0, 1)
            erased = self._rows[self._y + 1 :]
            del self._rows[self._y + 1 :]
            self._forget(erased)
        elif number == 2:
            self._clear()

    def _clear(self) -> None:
        """Erase the screen. If the program hasn't addressed it before, keep the text and start the screen below it."""
        self._status = None
        if self._page:
            erased, self._rows = self._rows, [ScreenRow(self._at)]
            self._y = self._x = 0
            self._forget(erased)
        else:
            self._start_page()

    def _start_page(self) -> None:
        self._page = True
        self._complete(len(self._rows) - (not self._rows[-1].cells()))
        self._rows = self._rows or [ScreenRow(self._at)]
        self._y = self._x = 0

    def _move_to(self, y: int, x: int) -> None:
        """Move the cursor to a row and column of the screen."""
        if not self._page and self._saved is not None:
            self._status = f"{self._status} " if self._status else ""
            return
        if not self._page:
            self._start_page()
        self._extend(min(y, ROWS - 1))
        self._y, self._x = min(y, ROWS - 1), min(max(x, 0), COLUMNS)
        self._moved = True

    def _extend(self, y: int) -> None:
        """Add rows up to `y`."""
        while len(self._rows) <= y:
            row = ScreenRow(self._at)
            row.redrawn = True
            self._rows.append(row)

    def _restore(self) -> None:
        """Move the cursor back to where it was saved. Text written elsewhere in between is dropped."""
        if self._status is not None:
            text, self._status = self._status, None
            self._note(text, self._rows[self._y])
        if self._saved is not None:
            self._y, self._x = min(self._saved[0], len(self._rows) - 1), self._saved[1]
            self._saved = None
        self._moved = True

    def _alternate(self, enter: bool) -> None:
        """Switch to the alternate screen or back. The alternate screen is dropped when the program leaves it."""
        if enter is (self._main is not None):
            return
        self._status = self._saved = None
        if self._main is None:
            self._main = (self._rows, self._y, self._x, self._page)
            self._rows, self._y, self._x, self._page = [], 0, 0, True
            self._extend(0)
            return
        erased, (self._rows, self._y, self._x, self._page), self._main = self._rows, self._main, None
        self._forget(erased)

    def _skip_string(self, text: str, at: int) -> tuple[int, bool]:
        """Skip a control string's content. Return the next index, and whether the string (or the line) has ended."""
        end = _STRING_END.search(text, at)
        stop = end.start() if end else len(text)
        if end and (end[0] != "\x1b" or stop + 1 < len(text)):
            self._in_string = False
            if end[0] == "\x1b":
                stop += 2 if text[stop + 1] == "\\" else 0
            elif end[0] != "\n":
                stop += 1
        self._at += size_of(text[at:stop])
        return stop, not self._in_string

    def _complete(self, count: int, *, ended: bool = True) -> None:
        """Remove the first `count` rows, which no longer change. `ended` is true if the last one has a line end."""
        rows, self._rows = self._rows[:count], self._rows[count:]
        self._y = max(self._y - count, 0)
        if self._saved is not None:
            self._saved = (max(self._saved[0] - count, 0), self._saved[1])
        if self._main is not None:
            self._forget(rows)
            return
        for index, row in enumerate(rows):
            following = rows[index + 1 : index + 2] or self._rows[:1]
            end = following[0].start if following else self._at
            if self._notes:
                self._done += [Line(text, row.start, end) for text in self._notes.of(row, rows[index:] + self._rows)]
                self._notes.remove(row)
            if (text := row.shown()) is not None:
                self._done.append(Line(text, row.start, end, ended or index < len(rows) - 1))

    def _keep_version(self, row: ScreenRow) -> None:
        """Remember the text of a row that is about to change, if the text is an error or a warning."""
        # To limit the cost, ignore changes to less than 1/8 of the row.
        if self._moved and row.changed * 8 >= len(row.cells()):
            row.changed = 0
            self._note(row.current(), row)
        self._moved = False
        row.redrawn = True

    def _note(self, text: str, row: ScreenRow) -> None:
        if (oldest := self._notes.add(text, row)) is not None:
            self._done.append(Line(oldest.text, oldest.row.start, self._at))

    def _forget(self, erased: list[ScreenRow]) -> None:
        """Remember the errors and warnings from erased rows."""
        row = self._rows[min(self._y, len(self._rows) - 1)] if self._main is None else self._main[0][-1]
        self._notes.move(erased, row)
        for old in filter(ScreenRow.current, erased):
            self._note(old.current(), row)
