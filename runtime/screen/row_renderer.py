"""Renders rows of cells as VT bytes: text, attributes, colours, links, blanks and automatic line wraps.

libghostty's formatter does the same faster, but it omits links and gives blanks the style of the text before them. It
is used for most of the scrollback; the screen is rendered here (ECMA-48, xterm's ctlseqs).
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any

from pyghostty._ffi import lib

from runtime.screen.ghostty import (
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

WRAPS, CONTINUES, LINKED = row_mask("WRAP"), row_mask("WRAP_CONTINUATION"), row_mask("HYPERLINK")
_TEXT = (lib.GHOSTTY_CELL_CONTENT_CODEPOINT, lib.GHOSTTY_CELL_CONTENT_CODEPOINT_GRAPHEME)
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


@dataclass(frozen=True, slots=True)
class RenderedCell:
    """What can be read from a packed cell without looking up its position."""

    text: bytes | None  # None: it has to be looked up
    blank: bool  # nothing was written here; it can have a background
    wide: int
    style: int
    linked: bool
    protected: bool
    background: bytes  # SGR of a blank


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
    return RenderedCell(
        text=None if tag == lib.GHOSTTY_CELL_CONTENT_CODEPOINT_GRAPHEME else chr(code or 32).encode(),
        blank=code == 0,
        wide=cell(packed, "WIDE", "int"),
        style=cell(packed, "STYLE_ID", "uint16_t"),
        linked=bool(cell(packed, "HAS_HYPERLINK", "bool")),
        protected=bool(cell(packed, "PROTECTED", "bool")),
        background=background,
    )


def palette(index: int, base: int) -> bytes:
    """Return the SGR parameters of a palette colour. `base` is 30, 40 or 50 (which has no short form)."""
    if index < 16 and base < 50:
        return b";%d" % (base + index if index < 8 else base + 60 + index - 8)
    return b";%d;5;%d" % (base + 8, index)


def sgr(style: Any) -> bytes:
    """Return the SGR parameters of a GhosttyStyle, each preceded by a semicolon."""
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
    """Renders consecutive rows, each from its first column. Only CR and LF separate them."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._cols = get(terminal, "COLS", "uint16_t")
        self._screen: list[list[int]] | None = None
        self._styles: dict[int, dict[int, bytes]] = {}  # page → style → SGR
        self._pen = b""  # the SGR, link and protection that were set last
        self._link = b""
        self._protected = False
        self._parts: list[bytes] = []
        self._mends: list[bytes] = []  # blanks that were written only to make a line wrap

    def paint(self, first: int, last: int, *, joined: bool) -> bytes:
        """Render the rows `first` to `last`. `joined`: the row before was just rendered and wraps into `first`."""
        flags = row_flags(self._terminal, first, last)
        for y, row in enumerate(flags, first):
            if y > first and not joined:
                self._set()
                self._parts.append(b"\r\n")
            following = flags[y + 1 - first] if y < last else 0
            wraps = bool(row & WRAPS and following & CONTINUES)
            self._row(y, joined=joined, wraps=wraps)
            joined = wraps
        self._set()
        self._parts += self._mends
        painted = b"".join(self._parts)
        self._parts, self._mends = [], []
        return painted

    def _row(self, y: int, *, joined: bool, wraps: bool) -> None:
        ref = at(self._terminal, 0, y)
        styles = self._styles.setdefault(page_of(ref), {0: b""})
        x = skipped = 0
        for packed, run in groupby(self._cells(ref, y)):
            size, looks = len(list(run)), unpack(packed)
            if looks.wide in (lib.GHOSTTY_CELL_WIDE_SPACER_TAIL, lib.GHOSTTY_CELL_WIDE_SPACER_HEAD):
                if wraps and skipped:  # the wide character that follows needs the last column
                    self._parts.append(b"\x1b[%dC" % skipped)
            elif looks.blank and not looks.style:
                skipped = self._blank(y, x, size, looks.background, skipped, joined and x == 0, wraps)
            else:
                if skipped:
                    self._parts.append(b"\x1b[%dC" % skipped)
                    skipped = 0
                self._write(ref, x, size, looks, styles)
            x += size

    def _cells(self, ref: Any, y: int) -> list[int]:
        if y < 0:
            return row_cells(ref, self._cols)
        if self._screen is None:
            self._screen = screen_cells(self._terminal)
        return self._screen[y]

    def _blank(self, y: int, x: int, size: int, background: bytes, skipped: int, first: bool, wraps: bool) -> int:
        """Erase blanks that have a colour. Return the number of columns to skip before the next text."""
        if first or (wraps and x + size == self._cols):
            # The terminal wraps only after a written character: write spaces, and erase them at the end. In the
            # scrollback, which the cursor cannot reach, they stay.
            self._parts.append(b"\x1b[%dC" % skipped if skipped else b"")
            self._set(background)
            self._parts.append(b" " * size)
            if y >= 0:
                self._mends.append(b"\x1b[%d;%dH\x1b[0%bm\x1b[%dX\x1b[0m" % (y + 1, x + 1, background, size))
            return 0
        if background:
            self._parts.append(b"\x1b[%dC" % skipped if skipped else b"")
            self._set(background)
            self._parts.append(b"\x1b[%dX" % size)
            return size
        return skipped + size

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
                self._parts.append(characters_at(ref).encode())
            if text is not None:
                self._parts.append(text * size)
            return
        for at_x in range(x, x + size):
            ref.x = at_x
            self._set(style, link_at(ref), looks.protected)
            self._parts.append(looks.text if looks.text is not None else characters_at(ref).encode())

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
