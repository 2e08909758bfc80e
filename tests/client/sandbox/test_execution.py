"""Commands against a server."""

import asyncio
import dataclasses
from contextvars import ContextVar

import pytest

import hawse
from hawse.client.base.errors import CommandError
from hawse.wire import HawseError
from tests.support.client import QUICK
from tests.support.fake_server import KILLED, FakeServer
from tests.support.sync_bridge import Connect


async def test_a_command_is_run_to_its_end(hw: hawse.Client) -> None:
    result = await hw.sandbox().exec(["print", "out", "err"])
    assert (result.code, result.stdout, result.stderr, result.text) == (0, b"out", b"err", "out")
    assert (await hw.sandbox().exec("echo a | wc")).text == "echo a | wc"


async def test_callbacks_run_in_the_context_of_the_caller(hw: hawse.Client) -> None:
    request: ContextVar[str] = ContextVar("request", default="none")
    request.set("mine")
    seen: list[str] = []
    await hw.sandbox().exec(["print", "out"], on_stdout=lambda data: seen.append(request.get()))
    assert seen == ["mine"]


async def test_an_async_callback_is_refused_before_the_command_runs(hw: hawse.Client, server: FakeServer) -> None:
    async def show(data: bytes) -> None: ...

    with pytest.raises(TypeError, match="on_stdout must be a plain function"):
        await hw.sandbox().exec(["print", "out"], on_stdout=show)
    assert server.launcher.started == []


async def test_a_command_gets_its_stdin_to_the_last_byte(hw: hawse.Client) -> None:
    data = bytes(range(256)) * 4000
    assert (await hw.sandbox().exec(["cat"], stdin=data)).stdout == data
    assert (await hw.sandbox().exec(["cat"], stdin=b"")).stdout == b""


async def test_a_command_that_does_not_read_its_stdin_still_ends(hw: hawse.Client) -> None:
    assert (await hw.sandbox().exec(["print", "x"], stdin=bytes(1_000_000))).text == "x"


async def test_a_command_that_fails_is_an_exception_only_when_asked(hw: hawse.Client) -> None:
    assert (await hw.sandbox().exec(["fail", "3"])).code == 3
    with pytest.raises(CommandError, match="exited with 3: no luck") as caught:
        await hw.sandbox().exec(["fail", "3"], check=True)
    assert caught.value.result.stderr == b"no luck\n"
    with pytest.raises(HawseError, match="spawn_failed"):
        await hw.sandbox().exec(["nonsense"])


async def test_a_command_with_the_same_key_is_the_same_run(hw: hawse.Client, server: FakeServer) -> None:
    results = [await hw.sandbox().exec(["print", "x"], key="once") for _ in range(3)]
    assert {result.text for result in results} == {"x"}
    assert [process.argv for process in server.launcher.started] == [["print", "x"]]


@pytest.mark.async_only(reason="a thread cannot be cancelled")
async def test_cancelling_ends_the_command_and_leaves_no_channel(hw: hawse.Client, server: FakeServer) -> None:
    command = asyncio.create_task(hw.sandbox().exec(["hang"]))
    await server.until(lambda: server.launcher.started)
    (process,) = server.launcher.started
    command.cancel()
    await server.until(lambda: process.exit)
    assert process.exit == KILLED
    await server.until(lambda: server.session.link.connection.channels == {})
    with pytest.raises(asyncio.CancelledError):
        await command


@pytest.mark.async_only(reason="a thread cannot be cancelled")
async def test_cancelling_ends_the_command_although_the_client_is_closed_at_once(
    server: FakeServer, connect: Connect
) -> None:
    async with connect(server.url, options=QUICK) as hw:
        command = asyncio.create_task(hw.sandbox().exec(["hang"]))
        await server.until(lambda: server.launcher.started)
        (process,) = server.launcher.started
        await hw.call("echo")  # answered after `opened` was sent
        command.cancel()
        with pytest.raises(asyncio.CancelledError):
            await command
    assert process.exit == KILLED


@pytest.mark.async_only(reason="a thread cannot be cancelled")
async def test_cancelling_a_command_with_a_key_lets_it_run(hw: hawse.Client, server: FakeServer) -> None:
    command = asyncio.create_task(hw.sandbox().exec(["hang"], key="k"))
    await server.until(lambda: server.launcher.started)
    command.cancel()
    await server.until(lambda: server.session.link.connection.channels == {})
    assert [process.exit for process in server.launcher.started] == [None]


async def test_a_command_ends_with_the_request_timeout_when_the_sandbox_does_not_answer(
    server: FakeServer, connect: Connect
) -> None:
    options = dataclasses.replace(QUICK, request_timeout=0.01)
    async with connect(server.url, options=options) as hw:
        with pytest.raises(hawse.HawseError, match=r"deadline_exceeded: exec: no result within 0\.02 s"):
            await hw.sandbox().exec(["hang"], timeout=0.01)


async def test_truncated_output_is_reported_and_is_a_failure_with_check(hw: hawse.Client) -> None:
    result = await hw.sandbox().exec(["print", "0123456789", "err"], max_output=4)
    assert (result.stdout, result.stderr, result.truncated, result.ok) == (b"0123", b"err", True, True)
    with pytest.raises(CommandError, match="printed more output than was kept"):
        await hw.sandbox().exec(["print", "0123456789"], max_output=4, check=True)
    assert not (await hw.sandbox().exec(["print", "0123"], max_output=4, check=True)).truncated
