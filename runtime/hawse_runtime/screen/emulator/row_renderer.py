"""Renders rows of cells as VT bytes: text, attributes, colours, links, blanks and automatic line wraps.

libghostty's formatter is faster, but it omits links and gives blanks the style of the preceding text. It is used for
most of the scrollback; this module renders the screen (ECMA-48, xterm's ctlseqs).
"""

from functools import lru_cache
from itertools import groupby
from typing import Any
from unicodedata import category, east_asian_width

import msgspec

from hawse_runtime.screen.emulator.ghostty import (
    Terminal,
    at,
    cell,
    characters_at,
    get,
    link_at,
    page_of,
    row_cells,
    row_flags,
    row_mask,
    screen_cells,
    style_at,
)
from hawse_runtime.screen.emulator.libghostty import lib

WRAPS, CONTINUES, LINKED = row_mask("WRAP"), row_mask("WRAP_CONTINUATION"), row_mask("HYPERLINK")
_TEXT = (lib.GHOSTTY_CELL_CONTENT_CODEPOINT, lib.GHOSTTY_CELL_CONTENT_CODEPOINT_GRAPHEME)
_SPACERS = (lib.GHOSTTY_CELL_WIDE_SPACER_TAIL, lib.GHOSTTY_CELL_WIDE_SPACER_HEAD)
_FLAGS = {
    "bold": 1,
    "faint": 2,
    "italic": 3,
    "blink": 5,
    "inverse": 7,
    "invisible": 8,
    "strikethrough": 9,
    "overline": 53,
}
PLAIN = b"\x1b[0m"
# Prints a two-column space. In the DEC graphics character set, libghostty replaces a wide character with such a space.
# Other emulators print U+3000, which looks the same.
_WIDE_SPACE = "\x1b(0\u3000\x1b(B".encode()
_CLUSTERS = b"\x1b[?2027h%b\x1b[?2027l"  # grapheme clustering puts several characters into one cell
_EXTENDING = ("Mn", "Me", "Cf")  # categories of characters that join the preceding one in every mode
_JAMO = (("\u1160", "\u11ff"), ("\ud7b0", "\ud7fb"))  # vowels and final consonants of Hangul, which also join a cell
# Maximum size in bytes of text whose colours are shortened; beyond that, this would dominate a snapshot's time.
SHORTENED = 128 << 10


class RenderedCell(msgspec.Struct, frozen=True):
    """The properties of a packed cell that don't depend on its position."""

    text: bytes | None  # the bytes that print the cell; None if they depend on its position
    blank: bool  # whether the cell contains no text; a blank cell can still have a background
    wide: int
    style: int
    linked: bool
    protected: bool
    background: bytes  # the SGR parameters for a blank cell


@lru_cache(maxsize=1 << 14)
def unpack(packed: int) -> RenderedCell:
    tag, code = cell(packed, "CONTENT_TAG", "int"), 0
    background = b""
    if tag in _TEXT:
        code = cell(packed, "CODEPOINT", "uint32_t")
    elif tag == lib.GHOSTTY_CELL_CONTENT_BG_COLOR_PALETTE:
        background = palette(cell(packed, "COLOR_PALETTE", "uint8_t"), 40)
    else:
        rgb = cell(packed, "COLOR_RGB", "GhosttyColorRgb")
        background = b";48;2;%d;%d;%d" % (rgb.r, rgb.g, rgb.b)
    wide = cell(packed, "WIDE", "int")
    text: bytes | None = chr(code or 32).encode()
    if tag == lib.GHOSTTY_CELL_CONTENT_CODEPOINT_GRAPHEME:
        text = None
    elif code == 32 and wide == lib.GHOSTTY_CELL_WIDE_WIDE:
        text = _WIDE_SPACE
    return RenderedCell(
        text=text,
        blank=code == 0,
        wide=wide,
        style=cell(packed, "STYLE_ID", "uint16_t"),
        linked=bool(cell(packed, "HAS_HYPERLINK", "bool")),
        protected=bool(cell(packed, "PROTECTED", "bool")),
        background=background,
    )


def wrapped_by(first: RenderedCell, end: RenderedCell) -> bool:
    """Return whether printing `first` at the end of a row wraps and leaves `end` as the row's last cell."""
    return (
        end.wide == lib.GHOSTTY_CELL_WIDE_SPACER_HEAD
        and first.wide == lib.GHOSTTY_CELL_WIDE_WIDE
        and first.style == end.style
    )


def coloured(ref: Any) -> bool:
    """Return whether a text cell has a background."""
    return bool(style_at(ref).bg_color.tag != lib.GHOSTTY_STYLE_COLOR_NONE)


def cluster(text: str, *, wide: bool) -> bytes:
    """Return the bytes that print `text` into one cell, two columns wide if `wide` is set.

    Most combining characters join a cell in every mode. Others do so only if they were printed with grapheme
    clustering, as in an emoji family or with a variation selector that changes a character's width.
    """
    alone = all(category(each) in _EXTENDING or any(a <= each <= b for a, b in _JAMO) for each in text[1:])
    if wide and text[0] == " ":
        return _WIDE_SPACE + text[1:].encode()
    return text.encode() if alone and wide == (east_asian_width(text[0]) in "WF") else _CLUSTERS % text.encode()


def palette(index: int, base: int) -> bytes:
    """Return the SGR parameters for a palette colour. `base` is 30, 40 or 50; 50 has no short form."""
    if index < 16 and base < 50:
        return b";%d" % (base + index if index < 8 else base + 60 + index - 8)
    return b";%d;5;%d" % (base + 8, index)


def sgr(style: Any) -> bytes:
    """Return the SGR parameters for a GhosttyStyle, each preceded by a semicolon."""
    parts = [b";%d" % code for name, code in _FLAGS.items() if getattr(style, name)]
    if style.underline:
        parts.append(b";4" if style.underline == 1 else b";4:%d" % style.underline)
    for colour, base in ((style.fg_color, 30), (style.bg_color, 40), (style.underline_color, 50)):
        if colour.tag == lib.GHOSTTY_STYLE_COLOR_PALETTE:
            parts.append(palette(colour.value.palette, base))
        elif colour.tag == lib.GHOSTTY_STYLE_COLOR_RGB:
            rgb = colour.value.rgb
            parts.append(b";%d;2;%d;%d;%d" % (base + 8, rgb.r, rgb.g, rgb.b))
    return b"".join(parts)


class RowRenderer:
    """Renders consecutive rows, each from its first column. Rows are separated only by CR and LF."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._cols = get(terminal, "COLS", "uint16_t")
        self._screen: list[list[int]] | None = None
        self._styles: dict[int, dict[int, bytes]] = {}  # SGR parameters, keyed by page and style number
        self._cleared = False  # whether the wrap into the next row has been painted, and that row then erased
        self._pen = b""  # the most recently set SGR parameters, link and protection
        self._link = b""
        self._protected = False
        self._parts: list[bytes] = []
        self._mends: dict[int, int] = {}  # for each row, the column after the last blank written to force a wrap

    def paint(self, first: int, last: int, *, joined: bool, wraps: bool = False) -> bytes:
        """Render consecutive rows.

        Args:
            first: The first row; negative in the scrollback.
            last: The last row.
            joined: Whether the row above has just been rendered, and wraps into `first`.
            wraps: Whether `last` wraps into the row below, which is rendered next.
        """
        flags = row_flags(self._terminal, first, last)
        for y, row in enumerate(flags, first):
            if y > first and not joined:
                self._set()
                self._parts.append(b"\r\n")
            continues = bool(row & WRAPS) if y < last else wraps
            self._row(y, joined=joined, detached=not row & CONTINUES, wraps=continues)
            joined = continues
        for y, end in self._mends.items():
            self._mend(y, end)
        self._set()
        painted = b"".join(self._parts)
        self._parts, self._mends = [], {}
        return painted

    def _row(self, y: int, *, joined: bool, detached: bool, wraps: bool) -> None:
        """Render row `y`. `joined` is true if the row above wraps into it; `detached`, if `y` has since been erased."""
        ref = at(self._terminal, 0, y)
        styles = self._styles.setdefault(page_of(ref), {0: b""})
        x = skipped = 0
        cells = self._cells(ref, y)
        if joined and not self._cleared and (unpack(cells[0]).blank or self._coloured(y) or detached):
            # The terminal wraps only once another character is written. If that scrolls the screen, the character's
            # background fills the new row.
            self._set()
            self._parts.append(b" \r\x1b[X")
        if joined and detached:
            self._set()
            self._parts.append(b"\x1b[L")  # inserts a blank row that doesn't continue the one above
        self._cleared = False
        for packed, run in groupby(cells):
            size, looks = len(list(run)), unpack(packed)
            if looks.wide in _SPACERS:
                if wraps and skipped:  # to wrap, the cursor must be in the last column
                    self._parts.append(b"\x1b[%dC" % skipped)
                if looks.wide == lib.GHOSTTY_CELL_WIDE_SPACER_HEAD and wraps:
                    self._space(ref, y, x, looks)
            elif looks.blank and not looks.style:
                skipped = self._blank(y, x, size, looks.background, skipped, wraps)
            else:
                if skipped:
                    self._parts.append(b"\x1b[%dC" % skipped)
                    skipped = 0
                self._write(ref, x, size, looks, styles)
            x += size

    def _space(self, ref: Any, y: int, x: int, looks: RenderedCell) -> None:
        """Leave the last column of row `y` empty, because the wide character after it didn't fit.

        If row `y + 1` no longer starts with a wide character, print one temporarily and erase it.
        """
        below = at(self._terminal, 0, y + 1)
        starts = unpack(self._cells(below, y + 1)[0])
        if page_of(below) == page_of(ref) and wrapped_by(starts, looks) and not self._coloured(y + 1):
            return
        ref.x = x
        self._set(sgr(style_at(ref)))
        self._parts.append("\u3000".encode())
        self._set()
        self._parts.append(b"\r\x1b[K")
        self._cleared = True

    def _coloured(self, y: int) -> bool:
        """Return whether the first character in row `y` has a background."""
        return coloured(at(self._terminal, 0, y))

    def _cells(self, ref: Any, y: int) -> list[int]:
        if y < 0:
            return row_cells(ref, self._cols)
        if self._screen is None:
            self._screen = screen_cells(self._terminal)
        return self._screen[y]

    def _blank(self, y: int, x: int, size: int, background: bytes, skipped: int, wraps: bool) -> int:
        """Erase blanks with a background. Return how many columns to skip before the next text."""
        if wraps and x + size == self._cols:
            # The terminal wraps only after a character has been written, so write spaces and erase them at the end. In
            # the scrollback, which the cursor can't reach, the spaces remain.
            self._parts.append(b"\x1b[%dC" % skipped if skipped else b"")
            self._set(background)
            self._parts.append(b" " * size)
            if y >= 0:
                self._mends[y] = x + size
            return 0
        if background:
            self._parts.append(b"\x1b[%dC" % skipped if skipped else b"")
            self._set(background)
            self._parts.append(b"\x1b[%dX" % size)
            return size
        return skipped + size

    def _mend(self, y: int, end: int) -> None:
        """Rewrite row `y` up to column `end`, from right to left, and erase its blanks.

        In the terminal, erasing part of a row ends its wrap, except with EL 1, which erases to the left.
        """
        ref = at(self._terminal, 0, y)
        styles = self._styles[page_of(ref)]
        runs = [(packed, len(list(run))) for packed, run in groupby(self._cells(ref, y)[:end])]
        for packed, size in reversed(runs):
            looks = unpack(packed)
            if looks.blank and not looks.style:
                self._set(looks.background)
                self._parts.append(b"\x1b[%d;%dH\x1b[1K" % (y + 1, end))
            elif looks.wide not in _SPACERS:
                self._parts.append(b"\x1b[%d;%dH" % (y + 1, end - size + 1))
                self._write(ref, end - size, size, looks, styles)
            end -= size

    def _write(self, ref: Any, x: int, size: int, looks: RenderedCell, styles: dict[int, bytes]) -> None:
        style = styles.get(looks.style)
        if style is None:
            ref.x = x
            style = styles[looks.style] = sgr(style_at(ref))
        if not looks.linked:
            self._set(style, protected=looks.protected)
            text = looks.text
            for at_x in range(x, x + size) if text is None else ():
                ref.x = at_x
                self._parts.append(_cluster_at(ref, looks))
            if text is not None:
                self._parts.append(text * size)
            return
        for at_x in range(x, x + size):
            ref.x = at_x
            self._set(style, link_at(ref), looks.protected)
            self._parts.append(looks.text if looks.text is not None else _cluster_at(ref, looks))

    def _set(self, style: bytes = b"", link: bytes = b"", protected: bool = False) -> None:
        if style != self._pen:
            self._parts.append(b"\x1b[0%bm" % style)
            self._pen = style
        if link != self._link:
            self._parts.append(b"\x1b]8;;%b\x1b\\" % link)
            self._link = link
        if protected is not self._protected:
            self._parts.append(b'\x1b[%d"q' % protected)
            self._protected = protected


def _cluster_at(ref: Any, looks: RenderedCell) -> bytes:
    return cluster(characters_at(ref), wide=looks.wide == lib.GHOSTTY_CELL_WIDE_WIDE)


_COLOURS = [
    (b"\x1b[%d;5;%dm" % (base + 8, index), b"\x1b[%bm" % palette(index, base)[1:])
    for base in (30, 40)
    for index in range(16)
]


def with_short_colours(text: bytes) -> bytes:
    """Replace 38;5;1, as written by libghostty's formatter, with the shorter equivalent 31."""
    if len(text) > SHORTENED:
        return text
    for long, short in _COLOURS:
        text = text.replace(long, short)
    return text
