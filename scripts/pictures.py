"""Create the pictures in the README: `make pictures`, or only one of them with `ARGS=terminal.png`.

    docs/images/terminal.png   the page with two panes, files with their git status, and three participants
    docs/images/session.webp   a recording of about ten seconds

Both show a real gateway in a real Chromium. The scenes type at human speed. The captions below the recording are drawn
afterwards. Requires bubblewrap, because otherwise the shells would read this user's rc file.
"""

import asyncio
import base64
import io
import json
import os
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeVar

from PIL import Image, ImageDraw, ImageFont
from playwright.async_api import Browser, Page, async_playwright

import hawse
from tests.support.stack import Stack

ROOT: Final = Path(__file__).resolve().parent.parent
IMAGES: Final = ROOT / "docs" / "images"
SANDBOX: Final = "shop"
STILL: Final = (1440, 900)  # CSS pixels, like all sizes below
MOVING: Final = (1080, 640)
CAPTION: Final = 44  # height of the caption below the recording
FRAME: Final = 125  # milliseconds per frame of the recording, which has 8 frames per second
MAX_BYTES: Final = 1_500_000  # maximum size of the recording
KEY: Final = 55  # milliseconds between keys
WAIT: Final = 30_000  # milliseconds to wait for each condition
INK, TEXT = (11, 15, 20), (216, 222, 233)

# The packages that pytest needs. The sandbox may not have them.
PACKAGES: Final = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "py", "pygments")

CART: Final = '''\
"""A shopping cart. Prices are in cents."""

from dataclasses import dataclass, field

VAT = 20  # percent


@dataclass
class Cart:
    lines: dict[str, int] = field(default_factory=dict)

    def add(self, name: str, price: int, count: int = 1) -> None:
        self.lines[name] = self.lines.get(name, 0) + price * count

    def net(self) -> int:
        return sum(self.lines.values())

    def gross(self) -> int:
        return self.net() + self.net() * VAT // 100
'''
DISCOUNT: Final = '''
    def discount(self, percent: int) -> int:
        """What is saved when `percent` is taken off."""
        return self.net() * percent // 1000
'''
TESTS: Final = """\
from cart import Cart


def test_a_cart_is_empty_at_first():
    assert Cart().net() == 0


def test_lines_of_the_same_name_add_up():
    cart = Cart()
    cart.add("tea", 450)
    cart.add("tea", 450, 2)
    assert cart.lines == {"tea": 1350}


def test_gross_has_the_tax():
    cart = Cart()
    cart.add("tea", 1000)
    assert cart.gross() == 1200
"""
DISCOUNT_TEST: Final = """

def test_ten_percent_off():
    cart = Cart()
    cart.add("tea", 1000)
    assert cart.discount(10) == 100
"""
BASHRC: Final = r"""
export PYTHONPATH=/tmp/packages PYTHONDONTWRITEBYTECODE=1 PAGER=cat GIT_PAGER=cat
alias ls='ls --color=auto'
pytest() { python3 -m pytest -p no:cacheprovider "$@"; }
PS1='\[\e[1;34m\]\w\[\e[0m\] \[\e[33m\]❯\[\e[0m\] '
cd ~/shop
"""
BUILD: Final = r"""#!/bin/bash
echo Building the image of the shop
blocks=$(printf '█%.0s' {1..50})
for percent in {2..100..2}; do
    printf '\r\e[32m%s\e[90m%s\e[0m %3d %%' "${blocks:0:percent / 2}" "${blocks:percent / 2}" "$percent"
    sleep 0.12
done
echo
"""
SETUP: Final = (
    "cd shop && chmod +x build.sh && git init -qb main"
    " && git config user.email ada@example.org && git config user.name Ada"
    " && git add . && git commit -qm 'Add the cart'"
    " && printf '[tool.pytest.ini_options]\\naddopts = \"--no-header\"\\n' > pyproject.toml && git add pyproject.toml"
    " && git commit -qm 'Configure the tests' && git checkout -qb discount"
)


class Recorder:
    """Records the frames that Chromium draws of a page, with their times."""

    def __init__(self, page: Page, tasks: asyncio.TaskGroup) -> None:
        self._page = page
        self._tasks = tasks
        self._captions: list[tuple[float, str]] = []
        self._frames: list[tuple[float, bytes]] = []
        self._session: Any = None

    async def start(self) -> None:
        self._session = await self._page.context.new_cdp_session(self._page)
        self._session.on("Page.screencastFrame", self._add)
        await self._session.send("Page.startScreencast", {"format": "png", "everyNthFrame": 1})

    async def stop(self) -> None:
        await self._session.send("Page.stopScreencast")

    def caption(self, text: str) -> None:
        """Show `text` below all later frames."""
        self._captions.append((time.time(), text))

    def frames(self) -> list[Image.Image]:
        """Return the visible frame for every `FRAME` milliseconds, from the first caption until now."""
        start, end = self._captions[0][0], time.time()
        font = ImageFont.load_default(17)
        images = []
        for number in range(int((end - start) * 1000) // FRAME):
            now = start + number * FRAME / 1000
            data = _latest(self._frames, now)
            image = Image.new("RGB", (MOVING[0], MOVING[1] + CAPTION), INK)
            image.paste(Image.open(io.BytesIO(data)).convert("RGB").resize(MOVING), (0, 0))
            draw = ImageDraw.Draw(image)
            draw.line([(0, MOVING[1]), (MOVING[0], MOVING[1])], fill=(38, 46, 56))
            centre = (MOVING[0] // 2, MOVING[1] + CAPTION // 2)
            draw.text(centre, _latest(self._captions, now), fill=TEXT, font=font, anchor="mm")
            images.append(image)
        return images

    def _add(self, event: dict[str, Any]) -> None:
        self._frames.append((event["metadata"]["timestamp"], base64.b64decode(event["data"])))
        self._tasks.create_task(
            self._session.send("Page.screencastFrameAck", {"sessionId": event["sessionId"]}), name="ack"
        )


T = TypeVar("T")


def _latest(entries: Sequence[tuple[float, T]], now: float) -> T:
    return next((value for at, value in reversed(entries) if at <= now), entries[0][1])


class Scene:
    """A browser that shows the page to one user."""

    def __init__(self, page: Page) -> None:
        self.page = page

    @classmethod
    async def open(cls, browser: Browser, stack: Stack, query: str, *, name: str, size: tuple[int, int]) -> "Scene":
        context = await browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme="dark")
        settings = json.dumps({"name": name, "fontSize": 14})
        await context.add_init_script(f"localStorage.setItem('hawse.settings', {json.dumps(settings)})")
        page = await context.new_page()
        page.set_default_timeout(WAIT)
        await page.goto(f"{stack.base}/?sandbox={SANDBOX}&{query}#token={stack.token}")
        scene = cls(page)
        await scene.live()
        return scene

    async def live(self, terminal: str | None = None) -> None:
        await self.page.wait_for_function(
            "id => window.hawse?.state().terminal === 'live' && (!id || window.hawse.channel.address.id === id)",
            arg=terminal,
        )

    async def run(self, command: str, *, until: str, delay: int = KEY) -> None:
        """Type a command and wait until the screen matches `until`."""
        await self.page.keyboard.type(command, delay=delay)
        await self.page.keyboard.press("Enter")
        await self.shows(until)

    async def shows(self, pattern: str) -> None:
        """Wait until a regular expression matches the rows of the active terminal, joined by newlines."""
        await self.page.wait_for_function(
            """pattern => {
              const { buffer, rows } = window.hawse.terminal;
              const lines = Array.from({ length: rows }, (_, y) =>
                buffer.active.getLine(buffer.active.baseY + y)?.translateToString(true) ?? "");
              return new RegExp(pattern).test(lines.join("\\n"));
            }""",
            arg=pattern,
        )

    async def files(self) -> None:
        """Show the repository's files in the rail, and then focus the terminal `main`."""
        await self.live("main")
        await self.page.keyboard.press("Control+Shift+B")
        await self.page.get_by_role("navigation", name="Views").get_by_role("button", name="Files").click()
        for folder in (SANDBOX, "tests"):
            await self.page.get_by_role("treeitem", name=folder).first.click()
        await self.page.get_by_role("treeitem", name="test_cart.py").wait_for()
        await self.page.locator(".xterm:visible").click()


async def prepare(stack: Stack) -> None:
    """Create the only sandbox, with a repository that has uncommitted changes: a method with a bug and its test."""
    await stack.renew()
    async with hawse.connect(stack.base, token=stack.token) as hw:
        await hw.call("sandbox.delete", {"id": "local"})
        await hw.call("sandbox.create", {"id": SANDBOX})
        box = hw.sandbox(SANDBOX)
        files = {
            ".bashrc": BASHRC,
            "shop/README.md": "# Shop\n",
            "shop/build.sh": BUILD,
            "shop/cart.py": CART,
            "shop/tests/test_cart.py": TESTS,
        }
        for path, text in files.items():
            await box.files.write_text(path, text, parents=True)
        await box.exec(SETUP, check=True)
        await box.files.write_text("shop/cart.py", CART + DISCOUNT)
        await box.files.write_text("shop/tests/test_cart.py", TESTS + DISCOUNT_TEST)
        await box.files.write_text("shop/TODO.md", "- a discount for two of the same\n")
        await box.files.write("/tmp/packages.tar", packages())
        await box.files.extract("/tmp/packages.tar", "/tmp/packages")


def packages() -> bytes:
    """Return the `PACKAGES` of this Python as a tar archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name in PACKAGES:
            found = find_spec(name)
            if found is None or found.origin is None:
                raise ModuleNotFoundError(name)
            source = Path(found.origin)
            if source.name == "__init__.py":
                archive.add(source.parent, name, filter=lambda entry: None if "__pycache__" in entry.name else entry)
            else:
                archive.add(source, source.name)
    return buffer.getvalue()


async def still(browser: Browser, stack: Stack, path: Path) -> None:
    """Take a picture of Ada's page, with Grace and an agent in the same terminal."""
    layout = "layout=row(56:terminal~id~main,44:editor~path~shop/cart.py)"
    ada = await Scene.open(browser, stack, layout, name="Ada Lovelace", size=STILL)
    await ada.files()
    await ada.run("git log --oneline; git status --short", until=r"TODO\.md\n.*❯\s*$")
    await ada.run("pytest -q", until=r"1 failed, 3 passed.*\n.*❯\s*$")
    async with (
        hawse.connect(stack.base, token=stack.token) as hw,
        hw.sandbox(SANDBOX).terminals.attach("main", name="claude", kind="agent") as claude,
    ):
        await claude.write(b"sed -i 's|// 1000|// 100|' cart.py\n")
        await ada.shows(r"cart\.py\n.*❯\s*$")
        grace = await Scene.open(browser, stack, layout, name="Grace Hopper", size=STILL)
        await grace.files()
        await grace.run("pytest -v", until=r"4 passed.*\n.*❯\s*$")
        await grace.page.mouse.move(700, 560)
        await ada.page.locator(".flag", has_text="Grace").wait_for()
        await ada.page.wait_for_function("() => !document.querySelector('#others .typing')")
        await ada.page.screenshot(path=path)


async def moving(browser: Browser, stack: Stack, path: Path) -> None:
    """Record a command with its bar, a split, and a page reload."""
    scene = await Scene.open(browser, stack, "terminal=main", name="Ada Lovelace", size=MOVING)
    page = scene.page
    await scene.shows(r"❯\s*$")
    async with asyncio.TaskGroup() as tasks:
        recorder = Recorder(page, tasks)
        await recorder.start()
        recorder.caption("Every command has a bar: blue while it runs, then green, or red if it failed")
        await scene.run("pytest -q", until=r"1 failed, 3 passed.*\n.*❯\s*$")
        await asyncio.sleep(1.2)
        recorder.caption("Split, with Ctrl+Shift+O")
        await page.keyboard.press("Control+Shift+O")
        await scene.live("shell-2")
        await scene.shows(r"❯\s*$")
        await scene.run("./build.sh", until=r" 2\d %")
        recorder.caption("Reload the page …")
        await asyncio.sleep(0.6)
        await page.reload()
        await scene.live("main")
        recorder.caption("… and the same screens are back. The programs have not noticed.")
        await asyncio.sleep(3.3)
        images = recorder.frames()
        await recorder.stop()
    save(images, path)


def save(images: Sequence[Image.Image], path: Path) -> None:
    """Write an animated WebP. Equal frames are merged."""
    kept: list[Image.Image] = []
    durations: list[int] = []
    for image in images:
        if kept and kept[-1].tobytes() == image.tobytes():
            durations[-1] += FRAME
        else:
            kept.append(image)
            durations.append(FRAME)
    kept[0].save(
        path, save_all=True, append_images=kept[1:], duration=durations, loop=0, quality=82, method=4, allow_mixed=True
    )
    assert path.stat().st_size <= MAX_BYTES, f"{path} has {path.stat().st_size} bytes"


async def main(names: Iterable[str]) -> None:
    """Create the pictures with the given names. Without names, create both."""
    scenes = {"terminal.png": still, "session.webp": moving}
    async with AsyncExitStack() as exits:
        state = exits.enter_context(tempfile.TemporaryDirectory(prefix="hawse-"))
        stack = await exits.enter_async_context(Stack(Path(state), isolation="bubblewrap"))
        playwright = await exits.enter_async_context(async_playwright())
        browser = await playwright.chromium.launch(
            executable_path=os.environ.get("HAWSE_CHROMIUM"), args=["--no-sandbox", "--disable-gpu"]
        )
        exits.push_async_callback(browser.close)
        for name, scene in scenes.items():
            if not names or name in names:
                await prepare(stack)
                await scene(browser, stack, IMAGES / name)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
