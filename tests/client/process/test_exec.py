"""`exec` without a socket: the first request, its repeats, and the result."""

import asyncio
from functools import partial
from typing import Unpack

import pytest

from hawse.api.processes import Exec
from hawse.client.base.errors import TruncatedError
from hawse.client.base.options import Options
from hawse.client.base.results import CommandResult
from hawse.client.calls.call_table import CallTable
from hawse.client.process.exec import ExecCall, kill, run_to_end
from hawse.client.process.program import ExecOptions
from hawse.wire import Credit, HawseError, Kind
from tests.support.client import MemoryConnection

OUT, ERR = Kind.OUTPUT, Kind.STDERR


def make(*, window: int = 100, **options: Unpack[ExecOptions]) -> tuple[CallTable, MemoryConnection, ExecCall]:
    calls = CallTable(Options())
    connection = MemoryConnection(calls)
    call = ExecCall(Exec(argv=["x"]), {"max_output": 1000, **options}, sandbox="local", window=window)
    calls.submit(call)
    connection.pump()
    return calls, connection, call


def opened(stdout: int = 0, stderr: int = 0, input_offset: int = 0) -> dict[str, object]:
    return {
        "id": "e",
        "instance": "run 1",
        "pid": 7,
        "from": {"stdout": stdout, "stderr": stderr},
        "input_offset": input_offset,
    }


async def test_both_streams_are_kept_apart_and_whole() -> None:
    _, connection, call = make()
    connection.event("opened", opened())
    connection.data(OUT, 0, b"one ")
    connection.data(ERR, 0, b"bad")
    connection.data(OUT, 4, b"two")
    connection.result({"code": 3, "timed_out": False, "stdout": 7, "stderr": 3})
    assert call.done.result() == CommandResult(3, stdout=b"one two", stderr=b"bad")


async def test_it_has_a_key_and_is_joined_again_from_where_it_was() -> None:
    calls, connection, call = make()
    first = connection.call
    assert connection.params == {"argv": ["x"], "max_output": 1000}
    assert first.key
    connection.event("opened", opened())
    connection.data(OUT, 0, b"one ")
    connection.data(ERR, 0, b"b")
    calls.disconnected()
    again = MemoryConnection(calls)
    assert again.call.key == first.key
    assert again.params == {"argv": ["x"], "max_output": 1000, "since": {"stdout": 4, "stderr": 1}}
    again.event("opened", opened(4, 1))
    again.data(OUT, 2, b"e two")  # a repeat in part
    again.result({"code": 0, "stdout": 7, "stderr": 1})
    assert call.done.result().stdout == b"one two"


async def test_stdin_goes_along_and_is_resumed() -> None:
    calls, connection, call = make(stdin=b"")
    assert call.input_stream
    await call.input_stream.write(b"abcdef")
    assert connection.inputs() == [(0, b"abcdef")]
    assert connection.params == {"argv": ["x"], "max_output": 1000, "stdin": True, "input": call.input_stream.id}
    calls.disconnected()
    again = MemoryConnection(calls)
    assert again.params["input"] == call.input_stream.id
    again.event("opened", opened(input_offset=2))
    assert again.inputs() == [(2, b"cdef")]


async def test_credit_is_given_back_as_output_is_kept() -> None:
    _, connection, _ = make(window=100)
    connection.event("opened", opened())
    connection.data(OUT, 0, bytes(20))
    assert sum(credit.bytes for credit in connection.of(Credit)) > 100


@pytest.mark.parametrize("sent", [10, 12], ids=["the server stops at the limit", "the server ignores the limit"])
async def test_output_beyond_the_limit_is_dropped_and_the_result_is_truncated(sent: int) -> None:
    _, connection, call = make(max_output=10)
    assert connection.params["max_output"] == 10
    connection.event("opened", opened())
    connection.data(OUT, 0, b"0123456789ab"[:sent])
    connection.result({"code": 0, "stdout": 500 if sent == 10 else sent, "stderr": 0, "truncated": sent == 10})
    assert call.done.result() == CommandResult(0, stdout=b"0123456789", truncated=True)


async def test_output_that_is_missing_below_the_limit_is_lost_and_not_cut() -> None:
    _, connection, call = make(max_output=10)
    connection.event("opened", opened())
    connection.data(OUT, 0, b"012345678")
    connection.result({"code": 0, "stdout": 500, "stderr": 0, "truncated": True})
    with pytest.raises(TruncatedError):
        await call.done


@pytest.mark.parametrize("where", ["opened", "event", "result"])
async def test_output_that_was_lost_is_never_skipped_silently(where: str) -> None:
    _, connection, call = make()
    if where == "opened":
        connection.event("opened", opened(5))
    else:
        connection.event("opened", opened())
        if where == "event":
            connection.event("truncated", {"stream": "stdout", "from": 5})
        else:
            connection.result({"code": 0, "stdout": 5, "stderr": 0})
    with pytest.raises(TruncatedError) as caught:
        await call.done
    assert (caught.value.stream, caught.value.missing) == ("stdout", 5)


async def test_a_repeat_has_offsets_only_if_the_run_had_begun() -> None:
    calls, _, _ = make()
    calls.disconnected()
    assert MemoryConnection(calls).params == {"argv": ["x"], "max_output": 1000}


async def test_a_second_run_is_never_taken_for_the_first() -> None:
    """The sandbox died with its keys: what runs now is another command."""
    calls, connection, call = make()
    connection.event("opened", opened())
    connection.data(OUT, 0, b"one ")
    calls.disconnected()
    again = MemoryConnection(calls)
    again.event("opened", {**opened(4), "instance": "run 2"})
    with pytest.raises(HawseError) as caught:
        await call.done
    assert (caught.value.code, caught.value.admitted) == ("outcome_unknown", "yes")


async def test_a_stored_outcome_needs_no_opened() -> None:
    calls, connection, call = make()
    connection.event("opened", opened())
    connection.data(OUT, 0, b"all")
    calls.disconnected()
    MemoryConnection(calls).result({"code": 0, "stdout": 3, "stderr": 0})
    assert call.done.result().stdout == b"all"


async def test_callbacks_get_all_output_once_and_the_result_keeps_its_limit() -> None:
    got: list[bytes] = []
    calls, connection, call = make(max_output=4, on_stdout=got.append)
    assert "max_output" not in connection.params
    connection.event("opened", opened())
    connection.data(OUT, 0, b"one ")
    connection.data(ERR, 0, b"bad")
    calls.disconnected()
    again = MemoryConnection(calls)
    again.event("opened", opened(4, 3))
    again.data(OUT, 4, b"two")
    again.result({"code": 0, "stdout": 7, "stderr": 3, "duration": 0.5})
    assert got == [b"one ", b"two"]
    result = call.done.result()
    assert result == CommandResult(0, stdout=b"one ", stderr=b"bad", truncated=True, duration=0.5)
    assert result.stderr_text == "bad"


async def test_what_a_callback_raises_is_raised_and_the_command_is_ended() -> None:
    def fail(_: bytes) -> None:
        raise ZeroDivisionError

    calls, connection, call = make(on_stdout=fail)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(attempt(calls, call))
        await connection.until_called()
        connection.event("opened", opened())
        connection.data(OUT, 0, b"one ")
    assert isinstance(running.result(), ZeroDivisionError)
    assert connection.call.method == "process.kill"


async def test_closing_waits_until_it_is_known_which_command_to_end() -> None:
    """The command may run before the client gets the event that says which process it is."""
    calls, connection, call = make()
    kill(calls, call)
    async with asyncio.TaskGroup() as tasks:
        closing = tasks.create_task(calls.settle_posted(60))
        await asyncio.sleep(0)
        connection.event("opened", opened())
        await connection.until_called(2)
        assert (connection.call.method, connection.params) == ("process.kill", {"id": "e", "instance": "run 1"})
        assert not closing.done()
        connection.result({"exit": {"code": None, "signal": "SIGTERM"}})


async def attempt(calls: CallTable, call: ExecCall) -> Exception | None:
    try:
        await run_to_end(calls, call, give_up=partial(kill, calls))
    except Exception as error:
        return error
    return None
