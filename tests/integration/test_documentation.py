"""Run the programs of the tutorial, the guides and other pages for users, and compare what they print.

A page is a list of fenced blocks. `python` is a complete program, `sh` a script of bash; both run in one directory for
each page, against a real gateway, which they find by HAWSE_URL. `python title="NAME"` is a file that later blocks use.
A `text` block directly after a program is what it prints: `…` stands for any text. Other blocks (`console`, `html`) are
not run.
"""

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.running import run
from tests.support.stack import Stack, free_port

pytestmark = pytest.mark.asyncio(loop_scope="session")
ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if path.parent.name != "decisions")
FENCE = re.compile(r"^```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<text>.*?)^```\n", re.M | re.S)
EXPECTED = re.compile(r"\n```text\n(.*?)^```\n", re.M | re.S)
PORT = "5173"  # of the servers in the pages
TIMEOUT = 90.0  # s for one program on a busy machine


@dataclass(frozen=True)
class Block:
    """A program of a page, or a file for later ones."""

    language: str
    title: str | None  # the name of the file
    text: str
    printed: str | None  # None: nothing is said about it


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text("utf-8")
    for match in FENCE.finditer(text):
        if match["language"] in ("python", "sh"):
            expected = EXPECTED.match(text, match.end())
            yield Block(match["language"], match["title"], match["text"], expected and expected[1])


def as_pattern(printed: str) -> str:
    """The regular expression for a `text` block, in which `…` is any text."""
    return ".*".join(map(re.escape, printed.strip().split("…")))


def make_commands(folder: Path) -> Path:
    """The commands `hawse` and `python` as an installation has them."""
    folder.mkdir()
    for name, arguments in (("hawse", "-m hawse.cli"), ("python", "")):
        command = folder / name
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n')
        command.chmod(0o755)
    return folder


@pytest.mark.parametrize("page", [page for page in PAGES if list(blocks(page))], ids=lambda page: page.stem)
async def test_the_programs_of_a_page_run_in_its_order_and_print_what_it_says(
    stack: Stack, page: Path, tmp_path: Path
) -> None:
    port = str(free_port())
    commands = make_commands(tmp_path / "bin")
    folder = tmp_path / "page"
    folder.mkdir()
    env = os.environ | {
        "PATH": f"{commands}:{os.environ['PATH']}",
        "HAWSE_URL": stack.url,
        "PYTHONPATH": f"{folder}:{ROOT}",
        "NO_PROXY": "*",
    }
    for block in blocks(page):
        text = block.text.replace(PORT, port)
        if block.title is not None:
            (folder / block.title).write_text(text)
            continue
        argv = [sys.executable, "-c", text] if block.language == "python" else ["bash", "-euo", "pipefail", "-c", text]
        printed = await run(*argv, cwd=folder, env=env, timeout=TIMEOUT)
        if block.printed is not None:
            assert re.fullmatch(as_pattern(block.printed), printed.strip(), re.S), f"{block.text}\nprinted:\n{printed}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
async def test_no_program_of_a_page_names_an_address(page: Path) -> None:
    """Otherwise it would call something else than the gateway of the test."""
    assert [block.text for block in blocks(page) if "127.0.0.1:8080" in block.text] == []
