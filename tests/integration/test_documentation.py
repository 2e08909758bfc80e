"""Runs the programs of the tutorial, the guides and other user documentation, and compares their output.

tests/support/documentation.py describes the pages. e2e/apps/test_release.py runs them with only the packages that the
pages instruct to install.
"""

import os
import sys
from pathlib import Path

import pytest

from tests.support.documentation import PAGES, ROOT, blocks, run_page
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")


def make_commands(folder: Path) -> Path:
    """Create the commands `hawse` and `python` as in an installation."""
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
    commands = make_commands(tmp_path / "bin")
    folder = tmp_path / "page"
    folder.mkdir()
    env = os.environ | {
        "PATH": f"{commands}:{os.environ['PATH']}",
        "HAWSE_URL": stack.url,
        "PYTHONPATH": f"{folder}:{ROOT}",
        "NO_PROXY": "*",
    }
    await run_page(page, folder, sys.executable, env)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
async def test_no_program_of_a_page_names_an_address(page: Path) -> None:
    """Otherwise it would call something other than the test's gateway."""
    assert [block.text for block in blocks(page) if "127.0.0.1:8080" in block.text] == []
