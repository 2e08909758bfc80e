"""A shell session recorded through the real stack, read in every way, and replayed."""

import asyncio
import json
import os
import signal
from typing import Any

import pytest
from pyghostty import Terminal as Emulator

import hawse
from hawse.client import Output, Resized
from tests.support.http_clients import http_client
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")


def play(cast: bytes, cols: int, rows: int) -> str:
    """Return the screen of an emulator after the whole recording."""
    header, *events = [json.loads(line) for line in cast.splitlines()]
    with Emulator(header["term"]["cols"], header["term"]["rows"], scrollback=1000) as emulator:
        for _, code, data in events:
            if code == "o":
                emulator.feed(data.encode())
            elif code == "r":
                emulator.resize(*map(int, data.split("x")))
        assert (emulator.size if isinstance(emulator.size, tuple) else emulator.size()) == (cols, rows)
        return str(emulator.text())


async def live(term: Any, until: bytes | None, emulator: Emulator) -> None:
    """Feed the output to `emulator`, like a viewer, until it shows `until`, or to the end."""
    async for item in term.items():
        if isinstance(item, Output):
            emulator.feed(item.data)
        elif isinstance(item, Resized):
            emulator.resize(item.cols, item.rows)
        if until is not None and until.decode() in str(emulator.text()):
            return


async def test_a_session_is_recorded_downloaded_and_played_again(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as client:
        sandbox = client.sandbox("local")
        with Emulator(80, 24, scrollback=1000) as seen:
            async with sandbox.terminals.open("main", argv=["bash", "--norc"], env={"PS1": "$ "}) as term:
                recording = await term.record(title="A session")
                await term.write(
                    b"printf '\\033[31mh\\303\\244llo \\346\\274\\242\\033[0m\\n'; seq 5; echo one-$((1))\n"
                )
                await live(term, b"one-1", seen)
                await term.resize(100, 30)
                await recording.mark("larger")
                await term.write(b"tput cols; seq 40; echo two-$((2))\n")
                await live(term, b"two-2", seen)
                await term.write(b"exit 3\n")
                await live(term, None, seen)
                await term.wait()
            info = await recording.stop()
            assert (info.state, info.reason, info.truncated, info.title) == ("finished", "exited", False, "A session")
            cast = await recording.read()
            assert play(cast, 100, 30).split() == str(seen.text()).split()
        assert len(cast) == info.size
        assert json.loads(cast.splitlines()[-1])[1:] == ["x", "3"]

        await by_http(stack, recording.id, cast)


async def by_http(stack: Stack, name: str, cast: bytes) -> None:
    path = f"/v1/sandboxes/local/recordings/{name}.cast"
    bearer = {"Authorization": f"Bearer {stack.token}"}
    async with http_client(stack.base) as http:
        answer = await http.get(path, headers=bearer)
        assert answer.content == cast
        assert answer.headers["content-type"] == "application/x-asciicast"
        assert answer.headers["content-disposition"] == f'attachment; filename="{name}.cast"'
        ticket = (await http.post("/v1/tickets", headers=bearer)).json()["ticket"]
        assert (await http.get(path, params={"ticket": ticket})).content == cast
        assert (await http.get(path, params={"ticket": ticket})).status_code == 401, "a ticket works once"
        part = await http.get(path, headers=bearer | {"Range": "bytes=10-19"})
        assert (part.status_code, part.content) == (206, cast[10:20])
        assert (await http.get(path)).status_code == 401


async def test_only_the_owner_can_read_recorded_input(stack: Stack) -> None:
    token = stack.viewer_token
    async with (
        hawse.connect(stack.base, token=stack.token) as client,
        hawse.connect(stack.base, token=token) as looker,
        http_client(stack.base, headers={"Authorization": f"Bearer {token}"}) as http,
    ):
        sandbox = client.sandbox("local")
        async with sandbox.terminals.open("main", argv=["cat"]) as term:
            secret, plain = await term.record(input=True), await term.record()
            await term.write(b"hunter2\n")
            await term.expect("hunter2")
            await secret.stop()
            await plain.stop()
        assert b"hunter2" in await secret.read()
        theirs = looker.sandbox("local").recordings.attach(secret.id)
        assert (await theirs.info()).input, "that there is one is no secret"
        with pytest.raises(hawse.HawseError) as refused:
            await theirs.read()
        assert refused.value.code == "forbidden"
        with pytest.raises(hawse.HawseError) as refused:
            await theirs.mark("x")
        assert refused.value.code == "forbidden"
        answer = await http.get(f"/v1/sandboxes/local/recordings/{secret.id}.cast")
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
        answer = await http.get(f"/v1/sandboxes/local/recordings/{plain.id}.cast")
        assert (answer.status_code, answer.content) == (200, await plain.read())


async def test_a_killed_runtime_leaves_a_recording_that_can_be_played(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as client:
        sandbox = client.sandbox("local")
        async with sandbox.terminals.open("main", argv=["sh", "-c", "while :; do echo line; done"]) as term:
            recording = await term.record()
            while (await recording.info()).size < 2_000_000:  # noqa: ASYNC110  # no event reports the size
                await asyncio.sleep(0.01)
        (runtime,) = stack.runtimes()
        os.kill(runtime.pid, signal.SIGKILL)
        info = await recording.info()
        assert (info.state, info.reason, info.truncated) == ("finished", "killed", True)
        cast = await recording.read()
        assert len(cast) == info.size >= 2_000_000
        events = [json.loads(line) for line in cast.splitlines()[1:]]
        assert sum(event[0] for event in events) == pytest.approx(info.duration, abs=0.01)
