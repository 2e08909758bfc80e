import asyncio
import json
import resource
from pathlib import Path
from typing import Any

import pytest
from pyghostty import Terminal as Emulator

from hawse_runtime.recording.keyframes import SECONDS
from tests.support.principals import AT_MAIN
from tests.support.runtime import Channel, Client, Served


async def read(client: Client, name: str, part: str = "cast", **more: Any) -> bytes:
    channel = client.call("recording.read", {"id": name, "part": part, **more})
    await channel.result()
    return bytes(channel.output)


def events(cast: bytes, *, skip: bool = True) -> list[Any]:
    return [json.loads(line) for line in cast.splitlines()[1 if skip else 0 :]]


def text(cast: bytes, code: str = "o", *, skip: bool = True) -> str:
    return "".join(data for _, kind, data in events(cast, skip=skip) if kind == code)


async def shell(client: Client, **params: Any) -> Channel:
    return await client.terminal("stty -echo; echo ready; exec cat", **params)


async def ended(client: Client, name: str) -> Any:
    """Stop the recording and return its description: all of it is on disk."""
    return await client.ask("recording.stop", id=name)


async def test_a_recording_has_output_sizes_markers_and_the_exit(client: Client) -> None:
    terminal = await shell(client)
    await terminal.seen(b"ready")
    started = await client.ask("recording.start", terminal="t", title="A demo")
    assert started["state"] == "recording"
    terminal.send("h\u00e4llo\n".encode())
    await terminal.seen("h\u00e4llo".encode())
    await client.ask("terminal.resize", id="t", cols=100, rows=30)
    await client.ask("recording.mark", id=started["id"], label="half-way")
    terminal.send(b"more\n\x04")
    await terminal.result()
    info = await ended(client, started["id"])
    cast = await read(client, started["id"])
    header = json.loads(cast.splitlines()[0])
    assert header["version"] == 3
    assert header["term"] == {"cols": 80, "rows": 24, "type": "xterm-256color"}
    assert header["title"] == "A demo"
    assert "ready" in text(cast), "the screen at the start is recorded"
    assert text(cast).endswith("h\u00e4llo\r\nmore\r\n")
    assert [(code, data) for _, code, data in events(cast) if code != "o"] == [
        ("r", "100x30"),
        ("m", "half-way"),
        ("x", "0"),
    ]
    assert (info["state"], info["reason"], info["truncated"]) == ("finished", "exited", False)
    assert info["size"] == len(cast)
    assert info["duration"] == pytest.approx(sum(event[0] for event in events(cast)))


async def test_a_terminal_created_with_record_is_recorded_from_its_first_byte(client: Client) -> None:
    terminal = await shell(client, record={"input": True})
    await terminal.seen(b"ready")
    terminal.send(b"secret\n\x04")
    await terminal.result()
    name = (await client.ask("recording.list", terminal="t"))["recordings"][0]["id"]
    await ended(client, name)
    cast = await read(client, name)
    assert text(cast) == bytes(terminal.output).decode()
    assert text(cast, "i") == "secret\n\x04"
    other = await client.terminal("echo x; read line", "u", record=True)
    await other.seen(b"x")
    other.send(b"typed\n")
    await other.result()
    name = (await client.ask("recording.list", terminal="u"))["recordings"][0]["id"]
    await ended(client, name)
    assert text(await read(client, name), "i") == ""


async def test_a_watch_is_sent_the_recordings_in_progress_after_each_change(client: Client, served: Served) -> None:
    await shell(client)
    async with served.client() as other:
        watch = other.call("recording.watch", {"terminal": "t"})
        assert (await watch.event("recordings"))["recordings"] == []
        started = await client.ask("recording.start", terminal="t")
        assert (await watch.event("recordings", 2))["recordings"][0]["id"] == started["id"]
        await client.ask("recording.stop", id=started["id"])
        assert (await watch.event("recordings", 3))["recordings"] == []


async def test_changes_without_credit_are_sent_as_one_event(client: Client, served: Served) -> None:
    await client.ask("terminal.create", id="t", argv=["cat"])
    other = await served.client(window=1)
    watch = other.call("recording.watch", generous=False)
    await watch.event("recordings")  # it exceeds the window: the next one needs credit
    for _ in range(3):
        name = (await client.ask("recording.start", terminal="t"))["id"]
        await client.ask("recording.stop", id=name)
    await client.ask("recording.start", terminal="t", id="last")
    assert len(watch.events) == 1
    watch.grant(4096)
    value = await watch.event("recordings", 2)
    assert [recording["id"] for recording in value["recordings"]] == ["last"]
    watch.cancel()
    assert (await watch.refusal()).code == "cancelled"
    await other.cut()


async def test_a_watch_takes_no_input(client: Client) -> None:
    watch = client.call("recording.watch")
    await watch.event("recordings")
    watch.send(b"x")
    assert (await watch.refusal()).code == "protocol_error"


async def test_fast_output_is_recorded_completely_with_keyframes_to_seek_to(client: Client) -> None:
    line = "printf '\\033[3%dm%07d %s\\r\\n' $((i % 8)) $i 0123456789012345678901234567890123456789"
    lines = f"while [ $i -lt $n ]; do {line}; i=$((i+1)); done"
    # The pause is longer than SECONDS: a fast machine prints all of it sooner than a keyframe is due.
    command = f"i=0; n=30000; {lines}; sleep {2 * SECONDS}; n=60000; {lines}"
    terminal = await client.terminal(command, record=True)
    await terminal.result()
    name = (await client.ask("recording.list"))["recordings"][0]["id"]
    info = await ended(client, name)
    cast = await read(client, name)
    assert text(cast) == bytes(terminal.output).decode()
    assert info["lost"] == 0
    keyframes = [json.loads(line) for line in (await read(client, name, "index")).splitlines()]
    assert keyframes, "this much output has keyframes"
    for keyframe in keyframes:
        assert cast[: keyframe["at"]].endswith(b"\n")
        painted = await read(client, name, "screens", offset=keyframe["screen"], length=keyframe["size"])
        assert show(painted, text(cast[keyframe["at"] :], skip=False)) == show(b"", text(cast))


def show(painted: bytes, rest: str) -> str:
    with Emulator(80, 24, scrollback=100) as emulator:
        emulator.feed(painted)
        emulator.feed(rest.encode())
        return str(emulator.text())


async def test_requests_that_do_not_fit_the_state_of_a_recording_are_refused(client: Client) -> None:
    await shell(client)
    assert (await client.refused("recording.get", id="nope")).code == "not_found"
    assert (await client.refused("recording.start", terminal="nope")).code == "not_found"
    await client.ask("recording.start", terminal="t", id="mine")
    assert (await client.refused("recording.start", terminal="t", id="mine")).code == "conflict"
    await client.ask("recording.stop", id="mine")
    assert (await client.refused("recording.mark", id="mine")).code == "exited"
    assert (await client.refused("recording.read", id="mine", offset=1 << 30)).code == "invalid_params"
    await client.ask("recording.delete", id="mine")
    assert (await client.refused("recording.get", id="mine")).code == "not_found"


async def test_recordings_are_kept_when_the_runtime_restarts(tmp_path: Path) -> None:
    async with Served(tmp_path) as served, served.client() as client:
        await shell(client)
        name = (await client.ask("recording.start", terminal="t"))["id"]
        await asyncio.sleep(0)
    async with Served(tmp_path) as served, served.client() as client:
        info = await client.ask("recording.get", id=name)
        assert (info["state"], info["reason"]) == ("finished", "exited")
        assert events(await read(client, name))[-1][1] == "x"


async def test_recordings_of_another_terminal_do_not_exist_for_a_caller_at_one_terminal(client: Client) -> None:
    ids = {}
    for terminal in ("main", "other"):
        await client.ask("terminal.create", id=terminal, argv=["cat"])
        ids[terminal] = (await client.ask("recording.start", terminal=terminal))["id"]
    listed = await client.call("recording.list", {}, principal=AT_MAIN).result()
    assert [each["id"] for each in listed["recordings"]] == [ids["main"]]
    watch = client.call("recording.watch", {}, principal=AT_MAIN)
    assert [each["id"] for each in (await watch.event("recordings"))["recordings"]] == [ids["main"]]
    for name in (ids["other"], "missing"):
        refused = await client.call("recording.get", {"id": name}, principal=AT_MAIN).refusal()
        assert (refused.code, refused.message) == ("not_found", f"recording {name} does not exist")
        assert (await client.call("recording.read", {"id": name}, principal=AT_MAIN).refusal()).code == "not_found"
    assert (await client.call("recording.get", {"id": ids["main"]}, principal=AT_MAIN).result())["id"] == ids["main"]


async def test_a_recording_that_a_failed_write_ended_uses_only_its_bytes_of_the_quota(
    client: Client, served: Served
) -> None:
    quota = served.runtime.recordings.quota
    before = quota.available
    terminal = await client.terminal("read line; seq 100000; read line")
    started = await client.ask("recording.start", terminal="t")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))  # bytes: a write beyond it fails, as on a full disk
    try:
        terminal.send(b"\n")
        await terminal.seen(b"100000")
        info = await ended(client, started["id"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (info["reason"], info["truncated"]) == ("io_error", True)
    assert before - quota.available == info["size"] + info["screens"] + info["index"] > 0
    await client.ask("recording.delete", id=started["id"])
    assert quota.available == before
