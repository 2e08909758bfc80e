"""A crash of the screen process does not affect terminals, viewers, output, answers or recordings."""

import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hawse_runtime.recording import keyframes
from hawse_runtime.screen.emulator.screen import Screen
from tests.support import terminals
from tests.support.runtime import Channel, Client, Served, eventually

LINES = 100_000
FLOOD = f"""
import sys
for n in range({LINES}):
    sys.stdout.write(f"\\x1b[{{n % 20 + 1}};1H\\x1b[3{{n % 8}}m{{n:06}}\\x1b[m ✓\\r\\n")
sys.stdin.readline()
"""
ASKS = """
import os, sys, termios, tty
tty.setraw(0)
for n in range(200):
    os.write(1, b"x\\x1b[6n")
    answer = b""
    while not answer.endswith(b"R"):
        answer += os.read(0, 1)
    os.write(1, b"." if answer.count(b"\\x1b") == 1 else answer.replace(b"\\x1b", b"!"))
os.set_blocking(0, False)
try:
    os.write(1, b"\\r\\nleft: " + os.read(0, 100))
except BlockingIOError:
    os.write(1, b"\\r\\nnothing left")
"""


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with Served(tmp_path) as served:
        yield served


@pytest.fixture
async def client(served: Served) -> AsyncIterator[Client]:
    async with served.client() as client:
        yield client


def crash(served: Served, signum: int = signal.SIGSEGV) -> None:
    """Crash the screen process, if there is one."""
    pid = served.runtime.screens.pid
    if pid is not None:
        os.kill(pid, signum)


async def shown(client: Client, terminal: str) -> str:
    """Attach, and return the text of the screen after the snapshot and the output that follows it."""
    viewer = client.attach(terminal)
    opened = await viewer.event("opened")
    assert opened["start_at"] == "snapshot"
    await viewer.event("live")
    text = painted(bytes(viewer.screen) + bytes(viewer.output))
    viewer.cancel()
    await viewer.refusal()
    return text


def painted(output: bytes) -> str:
    screen = Screen(80, 24)
    screen.feed(output)
    text = screen.text()
    screen.close()
    return text


async def flood(client: Client) -> Channel:
    await client.ask("terminal.create", id="t", argv=[sys.executable, "-c", FLOOD])
    viewer = client.attach("t", input="keys", emulator=True)
    await viewer.event("opened")
    return viewer


async def test_crashes_during_a_flood_lose_no_byte_and_the_next_snapshot_is_exact(
    client: Client, served: Served
) -> None:
    viewer = await flood(client)
    crashes = 0
    for lines in range(10_000, LINES, 30_000):
        await viewer.seen(b"%06d" % lines)
        crashes += served.runtime.screens.pid is not None
        crash(served)
    await viewer.seen(f"{LINES - 1:06}\x1b[m ✓\r\r\n".encode())
    assert crashes
    assert viewer.output.count("✓".encode()) == LINES, "no byte is lost, and the viewer has never been cut off"
    assert await shown(client, "t") == painted(bytes(viewer.output))
    viewer.send(b"\r")
    assert (await viewer.result())["exit"]["code"] == 0


async def test_a_crash_while_a_snapshot_is_made_delays_it(client: Client, served: Served) -> None:
    viewer = await flood(client)
    await viewer.seen(b"%06d" % (LINES - 1))
    await shown(client, "t")
    for signum in (signal.SIGSEGV, signal.SIGKILL):
        pid = served.runtime.screens.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        late = client.attach("t")
        info = await client.info()  # the attach has been handled, and the runtime still answers
        assert info["terminals"] == 1
        assert not late.events
        os.kill(pid, signum)
        os.kill(pid, signal.SIGCONT)
        assert (await late.event("opened"))["start_at"] == "snapshot"
        await late.event("live")
        assert painted(bytes(late.screen) + bytes(late.output)) == painted(bytes(viewer.output))


async def test_queries_are_answered_once_although_the_process_crashes(client: Client, served: Served) -> None:
    await client.ask("terminal.create", id="t", argv=[sys.executable, "-c", ASKS])
    terminal = served.runtime.terminals.get("t")
    for dots in range(20, 180, 20):
        await terminals.until(terminal, lambda dots=dots: output(served).count(b".") >= dots)  # type: ignore[misc]
        crash(served, signal.SIGKILL)
    await terminals.exited(terminal)
    assert output(served).endswith(b"nothing left")
    assert output(served).count(b".") == 200


def output(served: Served) -> bytes:
    journal = served.runtime.terminals.get("t").journal
    return journal.copy(journal.start, journal.end)


async def test_a_recording_goes_on_and_its_keyframes_are_exact(
    client: Client, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyframes, "SECONDS", 0.0)
    viewer = await flood(client)
    await viewer.seen(b"%06d" % 30_000)
    recording = (await client.ask("recording.start", terminal="t"))["id"]
    crash(served)
    await viewer.seen(b"%06d" % (LINES // 2))
    crash(served)
    await viewer.seen(b"%06d" % (LINES - 1))
    crash(served)
    stopped = await client.ask("recording.stop", id=recording)
    assert stopped["lost"] == 0
    cast, screens, index = (
        next(served.workspace.parent.rglob(f"{recording}.{part}")).read_bytes() for part in ("cast", "screens", "index")
    )
    last = painted(bytes(viewer.output))
    assert painted(recorded(cast.split(b"\n", 1)[1])) == last
    places = [json.loads(line) for line in index.splitlines()]
    assert len(places) >= 2
    for place in places:
        screen = screens[place["screen"] : place["screen"] + place["size"]]
        assert painted(screen + recorded(cast[place["at"] :])) == last


def recorded(cast: bytes) -> bytes:
    """Return the output events of a recording."""
    events = [json.loads(line) for line in cast.splitlines()]
    return "".join(event[2] for event in events if event[1] == "o").encode()


async def test_methods_that_read_the_screen_are_answered_after_a_crash(client: Client, served: Served) -> None:
    shell = await client.terminal("printf '\\033[?1h\\033[?2004hhello'; exec cat -v")
    await shell.seen(b"hello")
    for _ in range(3):
        shot = await client.ask("terminal.screen", id="t")
        assert shot["content"].startswith("hello")
        crash(served)
        await client.ask("terminal.send", id="t", keys=["up"], paste="x")
    await shell.until(lambda: shell.output.count(b"^[[200~x^[[201~^[OA") == 3)
    waiting = client.call("terminal.wait", {"id": "t", "pattern": "needle", "on": "screen"})
    await waiting.event("opened")
    crash(served)
    shell.send(b"needle\r")
    assert (await waiting.result())["event"] == "pattern"


async def test_the_process_ends_with_the_runtime_and_is_not_started_without_need(tmp_path: Path) -> None:
    async with Served(tmp_path) as served, served.client() as client:
        await client.ask("terminal.create", id="t", argv=["sh", "-c", "printf '\\033[32mhello\\033[m'; exec sleep 60"])
        await client.ask("exec", command="true")
        assert served.runtime.screens.pid is None
        await client.ask("terminal.screen", id="t")
        pid = served.runtime.screens.pid
        assert pid is not None
    await eventually(lambda: not Path(f"/proc/{pid}").exists())
