"""Fuzzes the snapshot of a screen: `python -m tests.fuzz.screens --seconds 600`.

Each case feeds a screen with mutated recordings, random control sequences and raw bytes, resizes it in between, and
takes snapshots. A case is made from its number alone, so that it can be run again: `--first 123 --cases 1`. Cases run
in a child process: if that crashes, the case it was running is reported and the next child goes on behind it.
"""

import argparse
import logging
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pyghostty import Terminal as Emulator

from hawse_runtime.screen.deferred_output import unfinished
from hawse_runtime.screen.emulator.formats import view
from hawse_runtime.screen.emulator.screen import Screen

RECORDINGS = sorted((Path(__file__).parent.parent / "screens" / "recordings").glob("*.raw"))
SIZES = ((80, 24), (110, 36), (132, 5), (40, 10), (200, 60), (1, 1), (2, 2), (5, 3), (12, 4), (80, 1), (1, 24))
REPORT_EVERY = 200  # cases of one child process

Step = bytes | tuple[int, int]  # output, or a new size (columns, rows)


@dataclass
class Case:
    """A screen's initial size, and its output and resizes. A snapshot is taken after every step."""

    size: tuple[int, int]
    steps: list[Step]

    @property
    def fed(self) -> int:
        return sum(len(step) for step in self.steps if isinstance(step, bytes))


@dataclass
class Totals:
    """The statistics of a run."""

    cases: int = 0
    fed: int = 0  # bytes
    snapshots: int = 0
    plain: int = 0  # snapshots with a part missing or plainer
    different: int = 0  # snapshots with different text than the screen
    failures: list[str] = field(default_factory=list)


# Minimal cases where a snapshot once failed.
CORPUS = (
    Case((40, 10), [b"\x1b_\x9d"]),  # C1 in an APC string: libghostty does not encode it
    Case((40, 10), [b"\x1b_\xc2\x9d", b"more"]),
    Case((80, 24), [b"\x1bX+q544e\x9d\t\r\n"]),
    Case((40, 10), [b"\x1b[?1049h\x1b[H\xf0\x9f\x91\xa9", (1, 24)]),  # the resize cuts a wide character in half
    Case((40, 10), [b"\x1b[?7l\x1b\x89\xe5\xad\x97", (1, 1)]),
    Case((12, 4), [b"\n\x1b[40m\n\n\n\n\xff\n", (5, 3)]),  # the formatter breaks wrapped rows of blanks in other places
    Case((12, 4), [(1, 1), b"\x1b[7m\xe5\xad\x97\xe6\xb1\x89  "]),
    Case((110, 36), [b"\t" * 10 + b"\x1b[100;mT\n", (80, 24), b" " + b"\n" * 24]),
    Case((80, 24), [b"\x1b[4m" + b"underlined text here " * 200, (132, 5), b"\x1b8", b"x" * 20_000]),
)
# Likewise, with a character cut in the scrollback, which libghostty cannot encode and nothing can erase.
GIVEN_UP = (Case((12, 4), [b"\x1b[?7l0123456789\xe5\xad\x97" + b"\r\n" * 10 + b"text\x1b[5D\x1b[31m", (11, 4)]),)


# ---- making cases


def make_case(number: int) -> Case:
    """Return the case with this number, always the same."""
    rng = random.Random(number)
    steps: list[Step] = []
    for _ in range(rng.randint(1, 6)):
        if rng.random() < 0.3:
            steps.append(rng.choice(SIZES) if rng.random() < 0.7 else (rng.randint(1, 250), rng.randint(1, 80)))
        else:
            steps.append(rng.choice(_MAKERS)(rng))
    return Case(rng.choice(SIZES[:5]) if rng.random() < 0.7 else rng.choice(SIZES), steps)


def _mutated_recording(rng: random.Random) -> bytes:
    """Return a part of a recording with bytes changed, removed, repeated and inserted."""
    data = rng.choice(RECORDINGS).read_bytes()
    start = rng.randrange(len(data))
    part = bytearray(data[start : start + rng.randint(100, 20_000)])
    for _ in range(rng.choice((1, 3, 10, len(part) // 50 + 1))):
        at = rng.randrange(len(part) + 1)
        match rng.randrange(5):
            case 0:
                part[at : at + 1] = bytes([rng.randrange(256)])
            case 1:
                del part[at : at + rng.randint(1, 20)]
            case 2:
                part[at:at] = part[at : at + rng.randint(1, 200)]
            case 3:
                part[at:at] = rng.randbytes(rng.randint(1, 8))
            case _:
                part[at:at] = _sequence(rng)
    return bytes(part)


def _control_sequences(rng: random.Random) -> bytes:
    return b"".join(_sequence(rng) if rng.random() < 0.7 else _text(rng) for _ in range(rng.randint(1, 300)))


def _raw_bytes(rng: random.Random) -> bytes:
    """Return random bytes, like a binary file printed to the terminal."""
    return rng.randbytes(rng.randint(1, 20_000))


def _long_line(rng: random.Random) -> bytes:
    return _sequence(rng) + rng.choice((b"x", "汉".encode(), b"word ", b"a\xcc\x81")) * rng.randint(1, 5_000)


def _many_lines(rng: random.Random) -> bytes:
    return b"".join(_sequence(rng) + _text(rng) + b"\r\n" for _ in range(rng.randint(1, 300)))


_MAKERS: tuple[Callable[[random.Random], bytes], ...] = (
    *(_mutated_recording, _mutated_recording, _control_sequences, _raw_bytes, _long_line, _many_lines),
)

_TEXTS = (
    b"hello world",
    "汉字".encode(),
    "e\u0301".encode(),
    b"\t",
    b"\r\n",
    b"\n",
    b"\b",
    b"  x  ",
    "👩‍👩‍👧".encode(),
)
_C1 = b"".join(bytes([byte]) for byte in range(0x80, 0xA0))


def _text(rng: random.Random) -> bytes:
    return rng.choice(_TEXTS) * rng.choice((1, 1, 1, 3, 40))


def _number(rng: random.Random) -> bytes:
    return str(rng.choice((0, 1, 2, 3, 4, 5, 7, 10, 24, 38, 48, 80, 255, 1000, 65535, 2**31, 2**64))).encode()


def _sequence(rng: random.Random) -> bytes:
    """Return a control sequence that may be valid, truncated or nonsense."""
    match rng.randrange(9):
        case 0:
            parts = rng.choice((b";", b":")).join(_number(rng) for _ in range(rng.randint(0, 6)))
            return b"\x1b[" + rng.choice((b"", b"?", b">", b"=")) + parts + bytes([rng.randint(0x20, 0x7E)])
        case 1:
            codes = [str(rng.choice((*range(10), 21, *range(30, 50), 53, *range(90, 108)))) for _ in range(3)]
            return b"\x1b[%bm" % ";".join(codes).encode()
        case 2:
            return b"\x1b[?%d%b" % (
                rng.choice((1, 3, 5, 6, 7, 12, 25, 47, 66, 69, 1000, 1006, 1047, 1048, 1049, 2004, 2026, 2027)),
                rng.choice((b"h", b"l")),
            )
        case 3:
            return b"\x1b" + rng.choice((b"7", b"8", b"c", b"D", b"M", b"#8", b"(0", b"(B", b")0"))
        case 4:
            ends = (b"\x07", b"\x1b\\", b"\x9c", b"")
            texts = (b"0;title", b"8;;http://a/", b"8;;", b"7;file:///x", b"4;1;red", b"133;A", b"11;?", b"52;c;eA==")
            return b"\x1b]" + rng.choice(texts) + rng.choice(ends)
        case 5:
            kinds = (b"\x1bP", b"\x1b_", b"\x1b^", b"\x1bX", b"\x90", b"\x9f", b"\x9e")
            bodies = (b"", b"q", b"$qm", b"Ga=T,f=24,s=1,v=1;AAAA", b"+q544e", b"1000p", rng.randbytes(4))
            return rng.choice(kinds) + rng.choice(bodies) + rng.choice((b"\x1b\\", b"\x9d", b"\x9c", b"\x18", b""))
        case 6:
            return b"\x1b[%d;%dr\x1b[%d;%dH" % tuple(rng.randint(0, 60) for _ in range(4))
        case 7:
            return bytes([rng.choice(_C1)])
        case _:
            finals = b"@ABCDEFGHIJKLMPSTXZ`abdefg"
            return b"\x1b[%d%c" % (rng.choice((0, 1, 2, 3, 5, 20, 100)), rng.choice(finals))


# ---- running cases


class _Warnings(logging.Handler):
    """Counts the parts that snapshots gave up."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.count = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.count += 1


def run_case(case: Case, totals: Totals) -> None:
    """Take a snapshot after every step, and compare it on an emulator of the same size.

    Raises the screen's exception.
    """
    given_up = _Warnings()
    logger = logging.getLogger("hawse_runtime.screen")
    logger.addHandler(given_up)
    screen = Screen(*case.size)
    try:
        for step in case.steps:
            if isinstance(step, bytes):
                whole = len(step) - unfinished(step[-3:])
                screen.feed(step[:whole])
            else:
                screen.resize(*step)
            data = screen.snapshot()
            totals.snapshots += 1
            for form in ("text", "ansi", "html"):
                view(screen.emulator, form, 10)
            with Emulator(screen.cols, screen.rows) as painted:
                painted.feed(data)
                totals.different += painted.text() != screen.text()
        totals.plain += given_up.count
    finally:
        logger.removeHandler(given_up)
        screen.close()
    totals.cases += 1
    totals.fed += case.fed


def run_cases(numbers: Iterator[int], totals: Totals, until: float) -> None:
    """Run cases in this process. Prints each case's number before running it, so that a crash can be attributed."""
    for number in numbers:
        if time.monotonic() > until:
            break
        print(f"case {number}", flush=True)
        try:
            run_case(make_case(number), totals)
        except Exception as error:  # the point of a fuzzer
            print(f"failed {number} {type(error).__name__}: {error}", flush=True)
    print(f"totals {totals.cases} {totals.fed} {totals.snapshots} {totals.plain} {totals.different}", flush=True)


def run_in_children(first: int, cases: int | None, seconds: float) -> Totals:
    """Run cases in child processes until the time is up or `cases` are done."""
    totals, number, end = Totals(), first, time.monotonic() + seconds
    while time.monotonic() < end and (cases is None or number < first + cases):
        count = REPORT_EVERY if cases is None else min(REPORT_EVERY, first + cases - number)
        command = [sys.executable, "-m", "tests.fuzz.screens", "--child", "--first", str(number), "--cases", str(count)]
        command += ["--seconds", str(max(end - time.monotonic(), 1))]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        running = number
        for line in done.stdout.splitlines():
            kind, _, rest = line.partition(" ")
            if kind == "case":
                running = int(rest)
            elif kind == "failed":
                totals.failures.append(rest)
            elif kind == "totals":
                counts = map(int, rest.split())
                totals.cases += next(counts)
                totals.fed += next(counts)
                totals.snapshots += next(counts)
                totals.plain += next(counts)
                totals.different += next(counts)
        if done.returncode != 0:
            totals.failures.append(f"{running} crashed the process ({done.returncode}): {done.stderr[-500:]}")
        number = running + 1
        print(
            f"{number - first} cases, {totals.fed / 1e6:.1f} MB, {totals.snapshots} snapshots, {totals.plain} plain, "
            f"{totals.different} different, {len(totals.failures)} failures",
            flush=True,
        )
    return totals


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600, help="how long to run (default: 600)")
    parser.add_argument("--first", type=int, default=0, help="number of the first case (default: 0)")
    parser.add_argument("--cases", type=int, help="how many cases to run (default: as many as the time allows)")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        logging.disable(logging.NOTSET)
        logging.getLogger("hawse_runtime.screen").propagate = False
        numbers = iter(range(options.first, options.first + options.cases))
        run_cases(numbers, Totals(), time.monotonic() + options.seconds)
        return
    totals = run_in_children(options.first, options.cases, options.seconds)
    for failure in totals.failures:
        print("!", failure)
    sys.exit(1 if totals.failures else 0)


if __name__ == "__main__":
    main()
