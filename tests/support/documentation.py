"""The programs of the documentation: reads them from a page, runs them, and compares their output with the page.

A page is a list of fenced blocks. `python` is a complete program, `sh` a bash script. All programs of a page run in one
directory, against a real gateway at HAWSE_URL. `python title="NAME"` is a file that later blocks use. A `text` block
directly after a program is its output, where `…` matches any text. Other blocks (`console`, `html`) are not run, but
`pip install` in them lists the packages that the page needs.
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.support.running import run
from tests.support.stack import free_port

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if path.parent.name != "decisions")
FENCE = re.compile(r"^```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<text>.*?)^```\n", re.M | re.S)
EXPECTED = re.compile(r"\n```text\n(.*?)^```\n", re.M | re.S)
PORT = "5173"  # the port of the servers in the pages
INSTALL = re.compile(r"^\$ pip install ([^#\n]+)", re.M)
TIMEOUT = 90.0  # seconds for one program on a busy machine


@dataclass(frozen=True)
class Block:
    """A program of a page, or a file for later programs."""

    language: str
    title: str | None  # the name of the file
    text: str
    printed: str | None  # None: any output


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text("utf-8")
    for match in FENCE.finditer(text):
        if match["language"] in ("python", "sh"):
            expected = EXPECTED.match(text, match.end())
            yield Block(match["language"], match["title"], match["text"], expected and expected[1])


def as_pattern(printed: str) -> str:
    """Return the regular expression for a `text` block, where `…` matches any text."""
    return ".*".join(map(re.escape, printed.strip().split("…")))


def requirements(page: Path) -> list[str]:
    """Return the packages that a page instructs to install."""
    return sorted({word for line in INSTALL.findall(page.read_text("utf-8")) for word in shlex.split(line)})


async def run_page(page: Path, folder: Path, python: str | Path, env: Mapping[str, str]) -> None:
    """Run the programs of a page in order, and compare their output.

    Args:
        page: The page.
        folder: The directory for its files.
        python: The interpreter for its programs.
        env: The programs' environment, with HAWSE_URL.
    """
    port = str(free_port())
    for block in blocks(page):
        text = block.text.replace(PORT, port)
        if block.title is not None:
            (folder / block.title).write_text(text)
            continue
        argv = [python, "-c", text] if block.language == "python" else ["bash", "-euo", "pipefail", "-c", text]
        printed = await run(*argv, cwd=folder, env=env, timeout=TIMEOUT)
        if block.printed is not None:
            assert re.fullmatch(as_pattern(block.printed), printed.strip(), re.S), f"{block.text}\nprinted:\n{printed}"
