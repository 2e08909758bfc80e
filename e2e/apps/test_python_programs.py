"""JupyterLab, Streamlit, Gradio, Django, Flask-SocketIO and a plain web server through a preview in Chromium."""

import asyncio
import hashlib
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.async_api import Page, expect

from e2e.apps.conftest import NODE_MODULES, STEP, Programs

pytestmark = pytest.mark.asyncio(loop_scope="session")
BOTH = pytest.mark.parametrize("address", ["url", "path_url"])
CELL: dict[str, Any] = {
    "cell_type": "code",
    "id": "a",
    "source": "print(6 * 7)",
    "metadata": {},
    "outputs": [],
    "execution_count": None,
}
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
NOTEBOOK = {"cells": [CELL], "metadata": KERNEL, "nbformat": 4, "nbformat_minor": 5}
UPLOAD_SIZE = 200 << 20  # bytes
UPLOAD_TIME = 120_000  # ms


async def test_jupyterlab_runs_a_cell(programs: Programs, page: Page, tmp_path: Path) -> None:
    folder = tmp_path / "notebooks"
    folder.mkdir()
    (folder / "one.ipynb").write_text(json.dumps(NOTEBOOK))
    options = ["--no-browser", "--allow-root", "--port=PORT", "--IdentityProvider.token=secret"]
    lab = await programs.python("-m", "jupyterlab", *options, cwd=folder, ready="/api")
    await page.goto(f"{lab.url}lab/tree/one.ipynb?token=secret")
    await expect(page.locator(".jp-CodeCell")).to_be_visible(timeout=2 * STEP)
    await expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible(timeout=2 * STEP)
    await page.locator(".jp-CodeCell .cm-content").click()
    await page.keyboard.press("Shift+Enter")
    await expect(page.locator(".jp-OutputArea-output").first).to_have_text("42", timeout=STEP)


async def test_streamlit_answers_a_slider(programs: Programs, page: Page) -> None:
    options = ["--server.port=PORT", "--server.headless=true", "--browser.gatherUsageStats=false"]
    app = await programs.python("-m", "streamlit", "run", "streamlit_app.py", *options, ready="/_stcore/health")
    await page.goto(app.url)
    await expect(page.get_by_text("the square is 100")).to_be_visible(timeout=STEP)
    await page.get_by_role("slider").focus()
    await page.keyboard.press("ArrowRight")
    await expect(page.get_by_text("the square is 121")).to_be_visible(timeout=STEP)


async def test_gradio_streams_an_answer(programs: Programs, page: Page) -> None:
    app = await programs.python("gradio_app.py", "PORT")
    await page.goto(app.url, wait_until="domcontentloaded")
    await page.get_by_label("name").fill("preview")
    await page.get_by_role("button", name="Submit").click()
    await expect(page.get_by_label("answer")).to_have_value("hello preview", timeout=STEP)


async def test_django_accepts_its_form_and_its_websocket(programs: Programs, page: Page) -> None:
    app = await programs.python("django_app.py", "PORT")
    await page.goto(app.url)
    await expect(page.locator("#socket")).to_have_text("echo: over a WebSocket", timeout=STEP)
    await page.locator("input[name=name]").fill("preview")
    await page.get_by_role("button", name="send").click()
    await expect(page.locator("#answer")).to_have_text("hello preview", timeout=STEP)


@BOTH
async def test_socketio_upgrades_to_a_websocket(programs: Programs, page: Page, address: str) -> None:
    app = await programs.python("socketio_app.py", "PORT", NODE_MODULES / "socket.io-client/dist/socket.io.min.js")
    await page.goto(getattr(app, address))
    await expect(page.locator("#answer")).to_have_text("six times seven is 42", timeout=STEP)
    await expect(page.locator("#transport")).to_have_text("websocket")


@BOTH
async def test_server_sent_events_arrive_one_by_one(programs: Programs, page: Page, address: str) -> None:
    app = await programs.python("web.py", "PORT")
    await page.goto(getattr(app, address))
    events = page.locator("#events li")
    await expect(events).to_have_text(["connected"])
    async with httpx.AsyncClient(trust_env=False) as http:
        for count in (1, 2, 3):
            await http.post(app.path_url, content=f"event {count}")
            await expect(events).to_have_text(["connected", *(f"event {n}" for n in range(1, count + 1))])


@BOTH
async def test_200_megabytes_are_uploaded(programs: Programs, page: Page, address: str, tmp_path: Path) -> None:
    app = await programs.python("web.py", "PORT")
    file = tmp_path / "large"
    digest = await asyncio.to_thread(write_large, file)
    await page.goto(getattr(app, address))
    await page.locator("#file").set_input_files(file)
    await expect(page.locator("#digest")).to_have_text(digest, timeout=UPLOAD_TIME)


def write_large(file: Path) -> str:
    """Write a file of UPLOAD_SIZE bytes whose parts differ; return its SHA-256."""
    digest = hashlib.sha256()
    with file.open("wb") as target:
        for number in range(UPLOAD_SIZE >> 20):
            part = number.to_bytes(4, "big") * (1 << 18)
            digest.update(part)
            target.write(part)
    return digest.hexdigest()
