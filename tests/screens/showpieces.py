"""Prints what terminals can show and few programs use: images, wide characters in tables, a card of all attributes.

It imports nothing of the project: the recorder copies it to where it runs (`python3 showpieces.py NAME`).
"""

import base64
import struct
import sys
import time
import zlib
from collections.abc import Callable

ESC, ST = "\x1b", "\x1b\\"


def bars() -> None:
    """Progress bars that draw over themselves, one line and then several."""
    for n in range(0, 101, 4):
        out(f"\rfetching [{'#' * (n // 4):25}] {n:3}% \x1b[2m{n * 17} kB/s\x1b[0m\x1b[K")
        time.sleep(0.01)
    out("\r\n" * 4)
    for n in range(40):
        rows = "".join(f"\x1b[2K\x1b[3{row + 1}m{'━' * (n * (row + 1) // 4)}\x1b[0m layer {row}\n" for row in range(4))
        out(f"\x1b[4A\r{rows}")
        time.sleep(0.01)
    out("done ✓\n")


def images() -> None:
    """The three protocols for images."""
    side = 24
    rows = b"".join(b"\0" + bytes(v for x in range(side) for v in (x * 10, y * 10, 128)) for y in range(side))
    png = b"\x89PNG\r\n\x1a\n" + b"".join(
        chunk(kind, data)
        for kind, data in (
            (b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)),
            (b"IDAT", zlib.compress(rows)),
            (b"IEND", b""),
        )
    )
    text = base64.b64encode(png).decode()
    for n in range(3):
        out(f"kitty {n}:\n")
        parts = [text[at : at + 512] for at in range(0, len(text), 512)]
        for i, part in enumerate(parts):
            first = "a=T,f=100,c=6,r=3," if i == 0 else ""
            out(f"{ESC}_G{first}m={int(i < len(parts) - 1)};{part}{ST}")
        out(f"\niterm {n}:\n{ESC}]1337;File=inline=1;width=6;height=3:{text}\x07\n")
        colours = "".join(f"#{i};2;{i * 6};{100 - i * 6};50" for i in range(16))
        bands = "-".join("".join(f"#{i}!12~" for i in range(16)) for _ in range(4))
        out(f'sixel {n}:\n{ESC}Pq"1;1;192;24{colours}{bands}{ST}\nafter {n}\n')


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def table() -> None:
    """Box drawing around wide, combining and joined characters; some of them at the right margin."""
    cells = (
        "日本語",
        "한국어",
        "中文字",
        "😀🎉",
        "👩‍👩‍👧",
        "👍🏽",
        "🇩🇪🇯🇵",
        "❤️",
        "é e\u0301",
        "ก็",
        "שלום",
        "naïve",
        "①②",
        "…",
        "🫠",
    )
    out("┌" + "─" * 30 + "┐\n")
    for n in range(60):
        word = cells[n % len(cells)]
        out(f"│ {n:3} \x1b[{31 + n % 6}m{word}\x1b[0m\x1b[20G\x1b[4{n % 7}m {word} \x1b[0m\x1b[32G│\n")
    for n in range(3):
        out("日本語のとても長い行です" * (n + 5) + "\n" + "x" + "語" * 70 + "\n" + "🙂" * 61 + "\n")


def card() -> None:
    """Every attribute, colour, charset, margin and mode, as a terminal's test card has them."""
    attributes = (1, 2, 3, 4, 5, 7, 8, 9, 21, 53, "4:1", "4:2", "4:3", "4:4", "4:5", "1;3;4", "7;31", "2;9")
    for code in attributes:
        out(f"\x1b[{code}mattribute {code}\x1b[0m plain\n")
    for start in range(0, 256, 32):
        out("".join(f"\x1b[48;5;{n}m \x1b[38;5;{n}mx" for n in range(start, start + 32)) + "\x1b[0m\n")
    out(
        "".join(
            f"\x1b[{n}ma\x1b[1mb\x1b[0m" for n in (*range(30, 38), *range(90, 98), *range(40, 48), *range(100, 108))
        )
    )
    out("\n" + "".join(f"\x1b[38;2;{n};{255 - n};90;48;2;{n};0;{n}mX" for n in range(0, 256, 5)) + "\x1b[0m\n")
    out("\x1b[4:3;58:5:196mred curl\x1b[58:2::10:200:30m green\x1b[59m none\x1b[0m\n")
    out(
        "\x1b]8;id=one;https://example.com/a\x1b\\a link\x1b]8;;\x1b\\ and \x1b]8;;https://example.com/b\x07another\x1b]8;;\x07\n"
    )
    out("\x1b(0lqqqk\x1b(B \x1b)0\x0ex  x\x0f \x1b(Aa #\x1b(B\n")
    out("\x1b[3g" + "".join(f"\x1b[{n}G\x1bH" for n in (4, 11, 33)) + "\r\ta\tb\tc\n")
    out("\x1b[44mblue to the end\x1b[K\x1b[0m\n\x1b[41m  \x1b[0m\x1b[5Chole\x1b[42m\x1b[3X\x1b[0m\n")
    out("\x1b[2;10r\x1b[?6h\x1b[3;3Hin the region\x1b7\x1b[?6l\x1b[r")
    out("\x1b[?1h\x1b=\x1b[?2004h\x1b[?1003h\x1b[?1006h\x1b[?1004h\x1b[?25l\x1b[5 q\x1b[>1u")
    out("\x1b]0;the title\x07\x1b]7;file:///tmp/somewhere\x07\x1b[12;5H\x1b[1;35m\x1b[4hpushed\x1b[4l")
    out("\x1b[?7l" + "no wrap " * 30 + "\x1b[?7h\x1b[14;1H" + "wraps " * 40)
    out("\x1b[?1049h\x1b[H\x1b[44m\x1b[2Jalternate\x1b[5;8r\x1b[8;1H" + "scroll\n" * 6 + "\x1b[10;20H\x1b7\x1b[3;7m")
    out("\x1b[?2026hopen frame\x1b[?2026l\x1b[?1003l\x1b[?1000h\x1b[?1006l\x1b[?1015h\x1b[?1016h\x1b[2 q")
    out("\x1b[r\x1b[20;1Hlast\x1b8X\x1b[?1049l after\x1b[?25h\x1b[?1l\x1b>\x1b[22;0t\x1b]2;other\x07\x1b[23;0t\n")
    out("\x1b]4;1;rgb:00/ff/00\x07\x1b]10;#ffeeaa\x07\x1b]11;#102030\x07\x1b]12;#ff00ff\x07\x1b[!p\x1b[3 qend")


def out(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


PIECES: dict[str, Callable[[], None]] = {"bars": bars, "images": images, "table": table, "card": card}

if __name__ == "__main__":
    PIECES[sys.argv[1]]()
