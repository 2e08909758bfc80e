"""Snapshots of real programs in xterm.js in a real browser; tests/integration/test_screens.py tests more in Node."""

import base64
import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser

from tests.screens.cases import KNOWN, RECORDINGS, ROOT, program_of, seen, write_case

CHOSEN = ("vim-left-open-80x24", "htop-80x24", "mc-110x36", "table-80x24", "bash-110x36")
OFFSETS = 8

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("screens")
    subprocess.run(["node", "test/screens/bundle.mjs", directory], cwd=ROOT / "web", check=True)
    return directory / "browser.js"


@pytest.fixture(params=CHOSEN)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    """A case in the format of `browser.ts`."""
    recording = next(path for path in RECORDINGS if path.stem == request.param)
    written = write_case(recording, OFFSETS, tmp_path)
    snapshots = (tmp_path / written["snapshots"]).read_bytes()
    cuts, start = [], 0
    for cut in written["cuts"]:
        cuts.append({"at": cut["at"], "snapshot": encoded(snapshots[start : start + cut["size"]])})
        start += cut["size"]
    return written | {"cuts": cuts, "recording": encoded(recording.read_bytes())}


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


async def test_the_browser_shows_the_same_screen_after_a_snapshot(
    browser: Browser, script: Path, case: dict[str, Any]
) -> None:
    page = await browser.new_page()
    await page.add_script_tag(path=script)
    result = await page.evaluate("entry => replayHere(entry)", case)
    await page.close()
    assert len(result["cuts"]) == OFFSETS
    known = KNOWN.get(program_of(Path(case["name"])), ())
    found = [
        (cut["at"], kind, what)
        for cut in result["cuts"]
        for kind, what in seen({**cut["end"], **cut["there"]}).items()
        if kind not in known
    ]
    assert found == []
