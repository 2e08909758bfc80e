"""`desktop.*` against a real X server: what is seen, typed and clicked, and that nothing is left."""

import asyncio
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import psutil
import pytest
from PIL import Image

from hawse.wire import Principal
from hawse_runtime.desktop.desktop import RESTARTS
from hawse_runtime.desktop.methods import RUNNING_LIMIT
from tests.support.runtime import Client

from .conftest import XTERM, programs, until

ALL = ("Xvnc", "openbox", "xterm")

WRITER = Principal(id="w", name="w", kind="user", rights=("write",))
VIEWER = Principal(id="v", name="v", kind="user", rights=("view",))


async def screenshot(client: Client, **params: Any) -> Image.Image:
    call = client.call("desktop.screenshot", params)
    result = await call.result()
    assert result["size"] == len(call.output)
    image = Image.open(BytesIO(bytes(call.output)))
    image.load()
    assert image.size == (result["width"], result["height"])
    return image.convert("RGB")


async def window(client: Client, **wanted: Any) -> dict[str, Any]:
    """Wait for a window with these properties."""

    async def find() -> Any:
        windows = (await client.ask("desktop.windows"))["windows"]
        return next((w for w in windows if wanted.items() <= w.items()), None)

    return await until(find)


async def test_a_desktop_shows_a_program_and_takes_what_is_typed(desktop: Client, tmp_path: Path) -> None:
    await desktop.ask("desktop.launch", argv=[*XTERM, "-e", "sh"])
    shown = await window(desktop, name="XTerm", active=True)
    image = await screenshot(desktop)
    assert image.size == (640, 480)
    inside = (shown["x"] + shown["width"] - 20, shown["y"] + shown["height"] - 20)
    assert image.getpixel(inside) == (255, 255, 255)
    await desktop.ask("desktop.click", x=inside[0], y=inside[1])
    text = "Grüße, 世界 «€» ~|\\ \"'"
    await desktop.ask("desktop.type", text=f"printf %s '{text.replace(chr(39), '')}' > typed.txt\n")
    written = await until(lambda: _text(desktop, "typed.txt"))
    assert written == text.replace("'", "")


async def _text(client: Client, name: str) -> str:
    call = client.execute(f"cat {name} 2>/dev/null || true")
    await call.result()
    return call.output.decode()


async def test_keys_are_pressed_together(desktop: Client) -> None:
    program = "trap 'echo got > trapped.txt' INT; echo yes > ready.txt; cat"
    await desktop.ask("desktop.launch", argv=[*XTERM, "-e", "sh", "-c", program])
    await window(desktop, name="XTerm", active=True)
    await until(lambda: _text(desktop, "ready.txt"))
    await desktop.ask("desktop.key", keys="ctrl+c")
    assert await until(lambda: _text(desktop, "trapped.txt")) == "got\n"
    refused = await desktop.refused("desktop.key", keys="ctrl+nothing")
    assert refused.code == "invalid_params"


async def test_the_size_can_be_changed(desktop: Client) -> None:
    assert await desktop.ask("desktop.resize", width=800, height=500) == {"width": 800, "height": 500}
    assert (await screenshot(desktop)).size == (800, 500)
    assert (await desktop.ask("desktop.list"))["desktops"][0]["width"] == 800
    refused = await desktop.refused("desktop.resize", width=4096, height=4096)
    assert refused.code == "invalid_params"


async def test_a_region_is_cut_out_and_what_is_beyond_the_edge_is_left_out(desktop: Client) -> None:
    region = {"x": 600, "y": 400, "width": 100, "height": 20}
    assert (await screenshot(desktop, region=region)).size == (40, 20)
    refused = await desktop.call("desktop.screenshot", {"region": region | {"x": 640}}).refusal()
    assert refused.code == "invalid_params"


@pytest.mark.parametrize("format", ["png", "jpeg", "webp"])
async def test_an_image_has_the_wanted_format(desktop: Client, format: str) -> None:
    call = desktop.call("desktop.screenshot", {"format": format})
    assert (await call.result())["format"] == format
    assert Image.open(BytesIO(bytes(call.output))).format == format.upper()


async def test_the_clipboard_is_shared_with_programs_in_both_directions(desktop: Client) -> None:
    text = "first\nsecond ü 世 🙂"
    assert (await desktop.ask("desktop.clipboard"))["text"] == ""
    await desktop.ask("desktop.clipboard", text=text)
    variables = (await desktop.ask("desktop.list"))["desktops"][0]
    env = {"DISPLAY": variables["display"], "XAUTHORITY": variables["xauthority"]}
    call = desktop.execute("xclip -selection clipboard -o", env=env)
    await call.result()
    assert call.output.decode() == text
    await desktop.ask("exec", command="printf other | xclip -selection clipboard -i >/dev/null", env=env)

    async def other() -> bool:
        return (await desktop.ask("desktop.clipboard"))["text"] == "other"

    assert await until(other)


async def test_a_program_without_the_secret_cannot_connect(desktop: Client) -> None:
    display = (await desktop.ask("desktop.list"))["desktops"][0]["display"]
    call = desktop.execute("xclip -selection clipboard -o", env={"DISPLAY": display, "XAUTHORITY": "/dev/null"})
    assert (await call.result())["code"] != 0
    assert b"uthoriz" in call.stderr or b"open display" in call.stderr


async def test_the_x_server_listens_on_no_port(desktop: Client) -> None:
    (server,) = programs("Xvnc")
    assert server.net_connections("inet") == []


async def test_stop_ends_everything_that_was_started_on_it(desktop: Client) -> None:
    await desktop.ask("desktop.launch", command="setsid xterm & exec sleep 1000")
    await window(desktop, name="XTerm")
    assert all(programs(name) for name in ALL)
    await desktop.ask("desktop.stop")
    assert programs(*ALL) == []
    assert (await desktop.ask("desktop.list"))["desktops"] == []
    assert (await desktop.refused("desktop.click", x=1, y=1)).code == "not_found"


async def _manages(client: Client, wanted: bool) -> bool:
    return (await client.ask("desktop.list"))["desktops"][0]["window_manager"] is wanted


async def test_a_window_manager_that_ends_is_started_again_but_not_without_end(desktop: Client) -> None:
    for _ in range(RESTARTS):
        before = _manager()
        assert before is not None
        before.kill()
        await until(lambda before=before: _other_than(before))  # type: ignore[misc]
    assert await until(lambda: _manages(desktop, True))
    await desktop.ask("desktop.launch", argv=[*XTERM, "-e", "sh"])

    async def activated() -> bool:
        """Whether a click makes the window active: the new one manages windows, also those that it has found."""
        shown = await window(desktop, name="XTerm")
        await desktop.ask("desktop.click", x=shown["x"] + 20, y=shown["y"] + 20)
        return bool((await window(desktop, name="XTerm"))["active"])

    assert await until(activated)
    last = _manager()
    assert last is not None
    last.kill()
    assert await until(lambda: _manages(desktop, False))
    await desktop.ask("desktop.stop")
    assert _manager() is None


def _manager() -> psutil.Process | None:
    return next(iter(programs("openbox")), None)


async def _other_than(process: psutil.Process) -> bool:
    found = _manager()
    with suppress(psutil.NoSuchProcess):  # it has ended meanwhile
        return found is not None and found != process and found.status() != psutil.STATUS_ZOMBIE
    return False


async def test_a_window_manager_is_ready_when_it_answers(desktop: Client, tmp_path: Path) -> None:
    slow = tmp_path / "openbox"  # it starts openbox when the file `go` exists
    slow.write_text(f'#!/bin/sh\nuntil [ -e {tmp_path}/go ]; do sleep 0.01; done\nexec /usr/bin/openbox "$@"\n')
    slow.chmod(0o755)
    await desktop.ask("runtime.configure", revision=1, env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, ports=[])
    await desktop.ask("desktop.launch", argv=[*XTERM, "-e", "sh"])
    await window(desktop, name="XTerm")  # otherwise the one that is killed may have its request to be shown
    before = _manager()
    assert before is not None
    before.kill()
    await until(lambda: _other_than(before))
    assert await until(lambda: _manages(desktop, False))
    (tmp_path / "go").touch()
    assert await until(lambda: _manages(desktop, True))
    assert await window(desktop, name="XTerm")


async def test_the_list_says_what_is_missing(client: Client, tmp_path: Path) -> None:
    assert (await client.ask("desktop.list")) == {"desktops": [], "problem": None}
    await client.ask("runtime.configure", revision=1, env={"PATH": str(tmp_path)}, ports=[])
    missing = (await client.ask("desktop.list"))["problem"]
    assert "Xvnc and openbox" in missing
    assert "apt-get install" in missing


async def test_a_killed_x_server_ends_the_desktop_and_its_viewers(desktop: Client) -> None:
    viewer = desktop.call("desktop.attach", {})
    await viewer.event("opened")
    (server,) = programs("Xvnc")
    server.kill()
    await viewer.until(lambda: viewer.closed)

    async def gone() -> bool:
        return not (await desktop.ask("desktop.list"))["desktops"] and not programs(*ALL)

    assert await until(gone)
    again = await desktop.ask("desktop.start", width=640, height=480)
    assert again["created"]


async def test_a_second_start_returns_the_desktop_that_runs(desktop: Client) -> None:
    again = await desktop.ask("desktop.start", width=1000, height=1000)
    assert (again["created"], again["width"]) == (False, 640)


async def test_a_bounded_number_of_desktops_runs(desktop: Client) -> None:
    for number in range(1, RUNNING_LIMIT):
        started = await desktop.ask("desktop.start", id=f"d{number}", width=64, height=64)
        assert started["created"]
    assert (await desktop.refused("desktop.start", id="more")).code == "limit_exceeded"
    displays = {found["display"] for found in (await desktop.ask("desktop.list"))["desktops"]}
    assert len(displays) == RUNNING_LIMIT


async def test_a_missing_program_is_reported_with_how_to_install_it(client: Client, monkeypatch: Any) -> None:
    await client.ask("runtime.configure", revision=1, env={"PATH": "/nowhere"}, ports=[])
    refused = await client.refused("desktop.start")
    assert refused.code == "unavailable"
    assert "apt-get install tigervnc-standalone-server openbox" in refused.message


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("desktop.click", {"x": 1, "y": 1}),
        ("desktop.type", {"text": "x"}),
        ("desktop.clipboard", {}),
        ("desktop.lease", {"action": "free"}),
        ("desktop.start", {}),
        ("desktop.stop", {}),
    ],
)
async def test_who_may_only_watch_changes_nothing(desktop: Client, method: str, params: Any) -> None:
    refused = await desktop.call(method, params, principal=VIEWER).refusal()
    assert refused.code == "forbidden"
    assert (await desktop.call("desktop.list", principal=VIEWER).result())["desktops"]


async def test_agents_wait_for_the_writer_lease(desktop: Client) -> None:
    viewer = desktop.call("desktop.attach", {"viewer": {"key": "person"}})
    await viewer.event("opened")
    await desktop.ask("desktop.lease", action="take", viewer="person")
    assert (await desktop.refused("desktop.click", x=1, y=1)).code == "lease_held"
    await desktop.ask("desktop.click", x=1, y=1, viewer="person")
    await desktop.ask("desktop.lease", action="free")
    await desktop.ask("desktop.click", x=1, y=1)


async def test_a_cancelled_drag_releases_the_button(desktop: Client) -> None:
    path = [{"x": 10 + i % 100, "y": 10} for i in range(1000)]
    call = desktop.call("desktop.drag", {"path": path}, timeout=0.05)
    assert (await call.refusal()).code == "deadline_exceeded"
    await asyncio.wait_for(desktop.ask("desktop.move", x=5, y=5), 10)
