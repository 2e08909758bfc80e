"""Commands against a server."""

import asyncio

import pytest

import hawse
from hawse.client.base.errors import CommandError
from hawse.wire import HawseError
from tests.support.fake_server import FakeServer


async def test_a_command_is_run_to_its_end(hw: hawse.Client) -> None:
    result = await hw.sandbox().exec(["print", "out", "err"])
    assert (result.code, result.stdout, result.stderr, result.text) == (0, b"out", b"err", "out")
    assert (await hw.sandbox().exec("echo a | wc")).text == "echo a | wc"


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
    assert server.world.runs == ["print x"]


async def test_a_cancelled_command_leaves_no_channel(hw: hawse.Client, server: FakeServer) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await hw.sandbox().exec(["hang"])
    await hw.call("echo")
    assert server.session.connection.channels == {}


async def test_output_that_was_cut_is_said_and_is_a_failure_for_who_checks(hw: hawse.Client) -> None:
    """The server here knows no bound of its own."""
    result = await hw.sandbox().exec(["print", "0123456789", "err"], max_output=4)
    assert (result.stdout, result.stderr, result.truncated, result.ok) == (b"0123", b"err", True, True)
    with pytest.raises(CommandError, match="printed more than was kept"):
        await hw.sandbox().exec(["print", "0123456789"], max_output=4, check=True)
    assert not (await hw.sandbox().exec(["print", "0123"], max_output=4, check=True)).truncated
