"""Output as shells and programs print it, with resizes in between, each case made from a number.

To count the cases that differ: `python -m tests.screens.generated [CASES [FIRST]]`.
"""

import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from hawse_runtime.screen.emulator.screen import Screen
from tests.screens.cases import Cut, Resize, replayed, seen, write_cuts

CUTS = 4  # snapshots in the middle of a case, beside those after each resize


class Case(NamedTuple):
    """What is printed at a first size, and the resizes in it, as (offset, columns, rows)."""

    name: str
    cols: int
    rows: int
    data: bytes
    resizes: list[Resize]
    cuts: list[Cut]


def make_case(number: int, kinds: tuple[str, ...] = ("shell", "program")) -> Case:
    """Return the case of this number, always the same one."""
    rng = random.Random(f"screens {number}")
    kind = rng.choice(kinds)
    cols, rows = _size(rng)
    now = cols
    data = b""
    resizes: list[Resize] = []
    cuts: list[Cut] = []
    for _ in range(rng.randint(1, 4)):
        for _ in range(rng.randint(1, 6 if kind == "shell" else 12)):
            data += rng.choice(_KINDS[kind])(rng, now)
            if rng.random() < CUTS / 20:
                cuts.append(Cut(len(data), len(resizes)))
        size = _size(rng)
        resizes.append(Resize(len(data), *size))
        now = size[0]
        cuts.append(Cut(len(data), len(resizes)))
    data += rng.choice(_KINDS[kind])(rng, now)
    cuts.append(Cut(len(data), len(resizes)))
    return Case(f"{kind} {number}", cols, rows, data, resizes, cuts)


def _size(rng: random.Random) -> tuple[int, int]:
    return rng.choice((8, 10, 10, 11, 12, 15, 20, 21, 30, 40)), rng.choice((2, 3, 4, 5, 5, 6, 8, 10, 12))


# ---- what is printed

_WORDS = ("ls", "-l", "README.md", "git", "status", "日本語", "ファイル", "é", "e\u0301", "🙂", "x" * 7, "漢", "=" * 5)


def _text(rng: random.Random, cols: int) -> str:
    """Return text that is short, as wide as the screen, or longer."""
    match rng.randrange(5):
        case 0:
            return "y" * rng.choice((cols - 2, cols - 1, cols, cols + 1, 2 * cols))
        case 1:
            return rng.choice("漢字") * rng.choice((cols // 2, cols // 2 + 1, cols))
        case 2:
            return "x" * (cols - 1) + rng.choice("漢あ") + "z" * rng.randrange(3)
        case _:
            return " ".join(rng.choice(_WORDS) for _ in range(rng.randint(1, 8)))


def _styled(rng: random.Random, cols: int) -> bytes:
    text = _text(rng, cols).encode()
    if rng.random() < 0.6:
        return text
    codes = (1, 2, 3, 4, 7, 9, 31, 34, 42, 97, 101, 53, "38;5;99", "48;5;17", "4:3", "38;2;1;2;3", "48;2;9;8;7")
    return b"\x1b[%bm%b\x1b[m" % (str(rng.choice(codes)).encode(), text)


def _lines(rng: random.Random, cols: int) -> bytes:
    return b"".join(_styled(rng, cols) + b"\r\n" for _ in range(rng.randint(1, 6)))


def _prompt(rng: random.Random, cols: int) -> bytes:
    marks = (b"\x1b]133;A\x07", b"\x1b]133;B\x07") if rng.random() < 0.5 else (b"", b"")
    return b"\r\n%b$ %b%b" % (*marks, _styled(rng, cols))


def _menu(rng: random.Random, cols: int) -> bytes:
    """Rows below the cursor, which returns to its line, as zsh's completion and fzf print them."""
    count = rng.randint(1, 12)
    rows = b"".join(b"\r\n\x1b[K" + _styled(rng, cols) for _ in range(count))
    return b"\x1b7%b\x1b8" % rows if rng.random() < 0.3 else b"%b\x1b[%dA\x1b[%dG" % (rows, count, rng.randint(1, cols))


def _progress(rng: random.Random, cols: int) -> bytes:
    return b"\r%b\x1b[K\r%b\x1b[K" % (_styled(rng, cols), _styled(rng, cols))


def _edit(rng: random.Random, cols: int) -> bytes:
    return rng.choice((b"\b\x1b[K", b"\b \b", b"\x1b[A", b"\r\x1b[J", b"\x1b[H\x1b[2J", b"\x1b[3J", b"\r", b"\t"))


def _place(rng: random.Random, cols: int) -> bytes:
    return b"\x1b[%d;%dH" % (rng.randint(1, 12), rng.choice((1, 2, cols - 1, cols, rng.randint(1, cols))))


def _sequence(rng: random.Random, cols: int) -> bytes:
    count = rng.choice((b"", b"1", b"2", b"3", b"7"))
    match rng.randrange(4):
        case 0:
            return b"\x1b[" + rng.choice((b"K", b"1K", b"2K", b"J", b"1J", b"2J"))
        case 1:
            return (
                b"\x1b[" + count + rng.choice((b"X", b"P", b"@", b"L", b"M", b"S", b"T", b"A", b"B", b"C", b"D", b"b"))
            )
        case 2:
            return rng.choice((b"\x1bM", b"\n", b"\x1bE", b"\x1b7", b"\x1b8", b"\t", b"\x1b[Z", b"\x1bH", b"\x1b[3g"))
        case _:
            return _place(rng, cols)


def _mode(rng: random.Random, cols: int) -> bytes:
    end = rng.choice((b"h", b"l"))
    modes = (1, 6, 7, 9, 12, 25, 45, 66, 1000, 1002, 1003, 1004, 1005, 1006, 1007, 1015, 1016, 2004, 2026)
    if rng.random() < 0.2:
        return b"\x1b[" + rng.choice((b"4", b"20")) + end
    return b"\x1b[?%d" % rng.choice(modes) + end


def _charset(rng: random.Random, cols: int) -> bytes:
    match rng.randrange(3):
        case 0:
            return b"\x1b" + rng.choice(b"()*+-./".decode()).encode() + rng.choice((b"0", b"B", b"A"))
        case 1:
            return rng.choice((b"\x0e", b"\x0f", b"\x1bn", b"\x1bo", b"\x1bN", b"\x1bO", b"\x1b~", b"\x1b}", b"\x1b|"))
        case _:
            return b"lqqk" + _text(rng, cols).encode()


def _alternate(rng: random.Random, cols: int) -> bytes:
    return b"\x1b[?%d%b" % (rng.choice((1049, 1049, 1047, 47)), rng.choice((b"h", b"h", b"l")))


def _reset(rng: random.Random, cols: int) -> bytes:
    return rng.choice((b"\x1b[!p", b"\x1b[!p", b"\x1bc"))


def _region(rng: random.Random, cols: int) -> bytes:
    return b"\x1b[%d;%dr" % (rng.randint(1, 4), rng.randint(3, 12)) if rng.random() < 0.7 else b"\x1b[r"


def _link(rng: random.Random, cols: int) -> bytes:
    return b"\x1b]8;;http://a/\x1b\\%b" % _text(rng, cols).encode() + rng.choice((b"\x1b]8;;\x1b\\", b""))


def _joined(rng: random.Random, cols: int) -> bytes:
    return rng.choice(("1\ufe0f\u20e3", "\r\u0301", "❤\ufe0f", "👩\u200d👩", "a\u0301\u0302", "\u200b", "🇩🇪")).encode()


_Maker = Callable[[random.Random, int], bytes]
_SHELL: tuple[_Maker, ...] = (_lines, _lines, _prompt, _prompt, _menu, _progress, _edit, _edit)
_PROGRAM: tuple[_Maker, ...] = (
    *(_lines, _styled, _styled, _place, _place, _sequence, _sequence, _sequence),
    *(_mode, _charset, _alternate, _reset, _region, _link, _joined),
)
_KINDS = {"shell": _SHELL, "program": _PROGRAM}


# ---- running cases


def run(cases: list[Case]) -> list[dict[str, Any]]:
    """Return the differences at each cut of each case: see `Outcome` in `replay.ts`."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        return replayed([_write(i, case, directory) for i, case in enumerate(cases)], directory)


def _write(number: int, case: Case, into: Path) -> dict[str, Any]:
    recording = into / f"{number}.raw"
    recording.write_bytes(case.data)
    written = write_cuts(Screen(case.cols, case.rows), case.data, case.resizes, case.cuts, into / f"{number}.snapshots")
    return {"name": case.name, "cols": case.cols, "rows": case.rows, "recording": str(recording)} | written


def names_of_different(cases: list[Case]) -> set[str]:
    """Return the names of the cases in which a viewer that comes at a cut sees another screen, there or at the end."""
    outcomes = run(cases)
    return {each["name"] for each in outcomes if any(seen(cut[at]) for cut in each["cuts"] for at in ("there", "end"))}


def main(count: int, first: int, kinds: tuple[str, ...]) -> None:
    cases = [make_case(number, kinds) for number in range(first, first + count)]
    different: Counter[str] = Counter()
    total: Counter[str] = Counter()
    found: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for case, outcome in zip(cases, run(cases), strict=True):
        kind = case.name.split()[0]
        total[kind] += 1
        here: set[str] = set()
        for cut in outcome["cuts"]:
            for place in ("there", "end"):
                for difference, what in seen(cut[place]).items():
                    here.add(difference)
                    examples.setdefault(
                        f"{kind} {difference}", f"{case.name} at {cut['at']} {place}: {what['example']}"
                    )
        different[kind] += bool(here)
        found.update(f"{kind} {difference}" for difference in here)
    print({kind: f"{different[kind]} of {total[kind]} differ" for kind in sorted(total)})
    for difference, n in found.most_common():
        print(f"{n:5} {difference}: {examples[difference][:300]}")


if __name__ == "__main__":
    numbers = [int(each) for each in sys.argv[1:] if each.isdigit()]
    names = tuple(each for each in sys.argv[1:] if not each.isdigit())
    main(numbers[0] if numbers else 200, numbers[1] if numbers[1:] else 0, names or ("shell", "program"))
