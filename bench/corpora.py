"""Typical program output, generated from a seed. It is the input of the figures in `bench.figures.bulk.corpora`.

`python -m bench.corpora NAME SIZE` writes a corpus to standard output, for experiments.
"""

import random
import sys
from collections.abc import Callable, Iterator

SEED = 1
WORDS = (
    "connection request session worker timeout handler database client cache upstream listening shutdown retry "
    "accepted closed started failed for with of the in after before while payload token user index page"
).split()
CJK = "日本語中文繁體字端末接続要求失敗再試行完了读取写入错误警告信息한국어터미널연결"
MODULES = ("wire", "journal", "screen", "session", "process", "files", "watch", "gateway", "store", "client")


def corpus(name: str, size: int, seed: int = SEED) -> bytes:
    """Return about `size` bytes of the corpus `name` in `CORPORA`. The bytes are the same on every call.

    Lines end with LF, as programs write them. The last line is complete.
    """
    rng = random.Random(f"{name} {seed}")
    parts: list[bytes] = []
    length = 0
    for part in CORPORA[name](rng):
        parts.append(part.encode())
        length += len(parts[-1])
        if length >= size:
            return b"".join(parts)
    raise AssertionError("a corpus does not end")


def _log(rng: random.Random) -> Iterator[str]:
    """Yield a server's log, where 15 % of the lines are coloured and 5 % contain non-ASCII characters."""
    while True:
        at = f"2026-11-22 06:{rng.randrange(60):02}:{rng.randrange(60):02}.{rng.randrange(1000):03}"
        text = _words(rng, 5, 14) + f" id={rng.getrandbits(32):08x}"
        if rng.random() < 0.05:
            text += rng.choice((" ✓", " naïve café", " → 日本"))
        if rng.random() < 0.15:
            level, colour = rng.choice((("WARN", 33), ("ERROR", 31), ("DEBUG", 36)))
            yield f"\x1b[2m{at}\x1b[0m \x1b[1;{colour}m{level:5}\x1b[0m {text}\n"
        else:
            yield f"{at} INFO  {text}\n"


def _pytest(rng: random.Random) -> Iterator[str]:
    """Yield the coloured output of `pytest -v` with a few failures."""
    number = 0
    while True:
        number += 1
        name = f"tests/{rng.choice(MODULES)}/test_{rng.choice(WORDS)}.py::test_{_words(rng, 3, 8).replace(' ', '_')}"
        percent = f"\x1b[36m [{number % 101:3}%]\x1b[0m"
        if rng.random() < 0.01:
            yield f"{name} \x1b[31mFAILED\x1b[0m\x1b[31m {percent}\n"
            yield f"\x1b[1m\x1b[31mE       assert {rng.random()} == {rng.random()}\x1b[0m\n"
        else:
            yield f"{name} \x1b[32mPASSED\x1b[0m\x1b[32m {percent}\n"


def _build(rng: random.Random) -> Iterator[str]:
    """Yield the output of a build with cargo: a line per package, and a progress line that is erased and rewritten."""
    done = 0
    while True:
        done += 1
        package = f"{rng.choice(WORDS)}-{rng.choice(WORDS)}"
        yield f"\x1b[K\x1b[1m\x1b[32m   Compiling\x1b[0m {package} v{rng.randrange(9)}.{rng.randrange(30)}.0\n"
        for _ in range(rng.randrange(4)):
            share = done % 400 / 400
            line = "=" * int(share * 24) + ">" + " " * (24 - int(share * 24))
            yield f"\x1b[1m\x1b[36m    Building\x1b[0m [{line}] {done % 400}/400: {package}, {rng.choice(WORDS)}\r"


def _ls(rng: random.Random) -> Iterator[str]:
    """Yield the output of `ls -l --color`."""
    colours = ("01;34", "01;32", "01;36", "40;33;01", "01;31", "")
    while True:
        colour = rng.choice(colours)
        name = f"{rng.choice(WORDS)}-{rng.randrange(1000)}"
        shown = f"\x1b[0m\x1b[{colour}m{name}\x1b[0m" if colour else f"{name}.txt"
        size, day, minute = rng.randrange(10**7), rng.randrange(1, 31), rng.randrange(60)
        yield f"-rw-r--r-- 1 user user {size:>8} Nov {day:>2} 06:{minute:02} {shown}\n"


def _cjk(rng: random.Random) -> Iterator[str]:
    """Yield text with wide characters."""
    while True:
        yield "".join(rng.choices(CJK, k=rng.randint(10, 36))) + f" {rng.randrange(1000)}\n"


def _tui(rng: random.Random) -> Iterator[str]:
    """Yield the output of a full-screen program like htop: it addresses, colours and rewrites rows of the screen."""
    yield "\x1b[?1049h\x1b[?25l\x1b[H\x1b[2J"
    while True:
        for row in sorted(rng.sample(range(1, 25), rng.randint(3, 20))):
            load = rng.randrange(100)
            bar = "|" * (load // 5)
            yield f"\x1b[{row};1H\x1b[36m{row:3}\x1b[39m\x1b[1m[\x1b[22m\x1b[32m{bar:20}\x1b[39m{load:3}%\x1b[1m]\x1b[m"
            yield f" \x1b[7m{rng.choice(WORDS):12}\x1b[27m {_words(rng, 1, 4)}\x1b[K"


def _words(rng: random.Random, least: int, most: int) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randint(least, most)))


CORPORA: dict[str, Callable[[random.Random], Iterator[str]]] = {
    "log": _log,
    "pytest -v": _pytest,
    "build": _build,
    "ls --color": _ls,
    "CJK": _cjk,
    "TUI": _tui,
}


if __name__ == "__main__":
    sys.stdout.buffer.write(corpus(sys.argv[1], int(sys.argv[2])))
