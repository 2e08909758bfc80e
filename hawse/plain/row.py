"""A row of a terminal, as text or as cells."""

import re
import unicodedata
from typing import Final

from hawse.plain.lines import shape

TAB: Final = 8  # distance of tab stops, in columns
_COMBINED_MAX: Final = 16  # maximum number of characters in a cell
_SPINNER: Final = re.compile(r"[\s|/\\\-\u2500-\u259f\u25cb-\u25f7\u2800-\u28ff.…]*")  # rows without words


class ScreenRow:
    """A row: its text, and its cells once a program has changed it."""

    __slots__ = ("_cells", "_shape", "changed", "redrawn", "start", "text")

    def __init__(self, start: int) -> None:
        self.start = start  # the output offset where the row starts
        self.text = ""  # the row's text while it has no cells
        self.redrawn = False  # whether text was replaced or erased
        self.changed = 0  # number of cells written since `Rows` last looked for a problem
        self._cells: list[str] | None = None
        self._shape: str | None = None

    def cells(self) -> list[str]:
        """Return the characters, one for each column. The second column of a wide character is ""."""
        if self._cells is None:
            self._cells = cells_of(self.text)
            self.changed = len(self._cells)
        return self._cells

    def current(self) -> str:
        return self.text if self._cells is None else "".join(self._cells)

    def shown(self) -> str | None:
        """Return the text to show, or None if a redrawn row contains only a spinner or a progress bar."""
        text = self.current()
        if not self.redrawn:
            return text
        text = text.rstrip()
        return None if _SPINNER.fullmatch(text) else text

    def shape(self) -> str:
        """Return the shape of the text. See `hawse.plain.lines.shape`."""
        if self._shape is None:
            self._shape = shape(self.current())
        return self._shape

    def write(self, x: int, part: list[str]) -> None:
        cells = self.cells()
        end = x + len(part)
        cells += [" "] * (x - len(cells))
        self._separate(x)
        self._separate(end)
        cells[x:end] = part
        self.changed += len(part)
        self._shape = None

    def blank(self, x: int, count: int) -> None:
        """Replace `count` columns, starting at `x`, with blanks."""
        count = min(count, len(self.cells()) - x)
        self.write(x, [" "] * count)
        self.changed -= count

    def cut(self, x: int) -> None:
        """Erase the text from column `x`."""
        self._separate(x)
        del self.cells()[x:]
        self._shape = None

    def delete(self, x: int, count: int) -> None:
        """Delete columns, and move the text after them to the left."""
        self._separate(x)
        self._separate(x + count)
        del self.cells()[x : x + count]
        self._shape = None

    def _separate(self, x: int) -> None:
        """If a wide character starts before column `x` and extends into it, replace the character with blanks."""
        cells = self.cells()
        if x >= len(cells) or cells[x] or x == 0:
            return
        start = end = x
        while start > 0 and not cells[start]:
            start -= 1
        while end < len(cells) and not cells[end]:
            end += 1
        cells[start:end] = [" "] * (end - start)


def cells_of(text: str, *before: str) -> list[str]:
    """Split `text` into cells and append them to `before`. A combining character joins the preceding cell."""
    if text.isascii() and "\t" not in text:
        return [*before, *text]
    cells = list(before)
    for char in text:
        width = _width(char)
        if char == "\t":
            width = TAB - len(cells) % TAB
        if width == 0 and cells and len(cells[-1]) < _COMBINED_MAX:
            cells[-1] += char
        else:
            cells.append(char)
            cells += [""] * (width - 1)
    return cells


def _width(char: str) -> int:
    """Return the number of columns of a character."""
    if char < "\u0300":
        return 1
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1
