"""Measures how many tokens the plain text of noisy commands costs, and checks that it contains every error.

`python -m bench.tokens` prints a table. The outputs in `bench/recordings/` were recorded from real programs in a
terminal of 120 columns. The outputs of `docker build` and of a spinner are generated. A token is a word, up to three
digits, a run of the same punctuation mark, a control character or a line end, as for tokenizers of language models.
"""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from hawse.mcp.tool import OUTPUT_LIMIT
from hawse.plain.output import PlainOutput

RECORDINGS: Final = Path(__file__).parent / "recordings"
GOAL: Final = 0.4  # maximum ratio of the tokens of the plain text to the tokens of the output

_TOKEN: Final = re.compile(r"[^\W\d_]+|\d{1,3}|_+|([^\w\s])\1*|[\n\r\b]")
_SEQUENCE: Final = re.compile(r"\x1b(?:\[[0-9;?]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()].|[=>78M])")
_MOVES: Final = re.compile(r"\x1b\[[0-9;?]*[A-HJKf]|\x1b[78]|[\r\n\b]")
_PROBLEM: Final = re.compile(
    r"(?i)\b(?:errors?|warn(?:ing)?s?|fatal|failed|failures?|exception|traceback|panicked|denied|not found|no such)\b"
    r"|^[EW]:"
)


class Measured(NamedTuple):
    """The figures of one output: its size in bytes, tokens, and the lines with problems."""

    size: int
    tokens: int
    plain_tokens: int
    problems: list[str]
    lost: list[str]

    @property
    def share(self) -> float:
        return self.plain_tokens / self.tokens


def outputs() -> dict[str, bytes]:
    """Return the outputs, keyed by the names of their commands."""
    recorded = {path.stem: path.read_bytes() for path in sorted(RECORDINGS.glob("*.raw"))}
    return recorded | {"docker build": b"".join(_docker_build()), "spinner": b"".join(_spinner())}


def plain(output: bytes) -> str:
    """Return the text that an agent gets."""
    kept = PlainOutput(OUTPUT_LIMIT // 2, OUTPUT_LIMIT // 2)
    kept.add(output)
    return kept.text()


def tokens(text: str) -> int:
    """Return the number of tokens."""
    return sum(1 for _ in _TOKEN.finditer(text))


def problems(output: bytes) -> list[str]:
    """Return the lines with errors and warnings that were on the screen at any time, without a model of the screen.

    Numbers are replaced by `#`, because the text of a redrawn line contains only the last count.
    """
    pieces = (_normalized(_SEQUENCE.sub("", piece)) for piece in _MOVES.split(output.decode(errors="replace")))
    return list(dict.fromkeys(piece for piece in pieces if _PROBLEM.search(piece)))


def measure(output: bytes) -> Measured:
    text = plain(output)
    found = problems(output)
    shown = _normalized(text)
    lost = [line for line in found if line not in shown]
    return Measured(len(output), tokens(output.decode(errors="replace")), tokens(text), found, lost)


def main() -> None:
    print(f"{'command':14}{'bytes':>8}{'tokens':>8}{'plain':>8}{'share':>7}{'errors':>8}{'lost':>6}")
    total = plain_total = 0
    for name, output in outputs().items():
        found = measure(output)
        total, plain_total = total + found.tokens, plain_total + found.plain_tokens
        mark = "" if found.share <= GOAL and not found.lost else "  NOT MET"
        print(
            f"{name:14}{found.size:8}{found.tokens:8}{found.plain_tokens:8}{found.share:7.0%}"
            f"{len(found.problems):8}{len(found.lost):6}{mark}"
        )
        for line in found.lost:
            print(f"    lost: {line[:100]}")
    print(f"{'all':22}{total:8}{plain_total:8}{plain_total / total:7.0%}")


def _normalized(text: str) -> str:
    return " ".join(re.sub(r"\d+", "#", text).split())


def _docker_build() -> Iterator[bytes]:
    """Yield the output of BuildKit in a terminal: it redraws all steps and the last lines of the running step."""
    rng = random.Random(1)
    steps = [f"[{n}/8] {what}" for n, what in enumerate(_STEPS, 1)]
    logs: list[str] = []
    shown = 0
    for frame in range(120):
        step = frame // 15
        package = f"lib{rng.choice('abcdefgh')}{rng.randrange(99)}"
        log = f"{rng.choice(('Get:', 'Unpacking', 'Setting up'))} {package} (2.{frame})"
        logs.append("warning: libssl1.1 is deprecated" if frame == 40 else log)
        lines = [f"[+] Building {frame * 0.3:.1f}s ({step + 2}/10)"]
        lines += [
            f"\x1b[34m => CACHED {text}\x1b[0m" if n < 1 else f"\x1b[34m => {text}\x1b[0m"
            for n, text in enumerate(steps[:step])
        ]
        lines += [f" => {steps[step]} {frame % 15 * 0.3:>60.1f}s", *(f" => => # {log:<100}" for log in logs[-6:])]
        yield f"\x1b[{shown}A\x1b[0G\x1b[?25l".encode() if shown else b"\x1b[?25l"
        yield "".join(f"{line}\x1b[K\r\n" for line in lines).encode()
        yield "".join("\x1b[K\r\n" for _ in range(shown - len(lines))).encode() + b"\x1b[?25h"
        shown = max(shown, len(lines))
    yield b'------\r\n > [8/8] RUN make install:\r\n#12 0.412 make: *** No rule to make target "install".  Stop.\r\n'
    yield b'------\r\nERROR: failed to solve: process "/bin/sh -c make install" did not complete: exit code: 2\r\n'


_STEPS: Final = (
    "FROM docker.io/library/debian:bookworm",
    "RUN apt-get update",
    "RUN apt-get install -y build-essential libssl-dev",
    "WORKDIR /app",
    "COPY Makefile requirements.txt ./",
    "RUN pip install -r requirements.txt",
    "COPY . .",
    "RUN make install",
)


def _spinner() -> Iterator[bytes]:
    """Yield the output of a command-line tool that shows a spinner, in the ways of several libraries."""
    for step in ("Resolving dependencies", "Downloading models", "Linking"):
        for frame in range(60):
            yield f"\r\x1b[2K\x1b[36m{'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'[frame % 10]}\x1b[39m {step}".encode()
        yield f"\r\x1b[2K\x1b[32m✔\x1b[39m {step}\r\n".encode()
        yield b"Checking  "
        yield b"".join(b"\b" + b"|/-\\"[n % 4 : n % 4 + 1] for n in range(40)) + b"\bok\r\n"
        yield b"warning: 2 models have no checksum\r\n" if step == "Downloading models" else b""


if __name__ == "__main__":
    main()
