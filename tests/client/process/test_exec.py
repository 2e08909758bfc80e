"""`exec`, without a socket: what is asked for at first and again, and what comes out."""

import pytest

from hawse.client.base.errors import TruncatedError
from hawse.client.base.options import Options
from hawse.client.base.results import CommandResult
from hawse.client.calls.call_table import CallTable
from hawse.client.process.exec import ExecCall, program
from hawse.wire import Credit, HawseError, Kind
from tests.support.client import MemoryLine

OUT, ERR = Kind.OUTPUT, Kind.STDERR


def make(*, stdin: bool = False, limit: int = 1000, window: int = 100) -> tuple[CallTable, MemoryLine, ExecCall]:
    calls = CallTable(Options())
    line = MemoryLine(calls)
    call = ExecCall("local", {"argv": ["x"]}, key=None, stdin=stdin, window=window, limit=limit)
    calls.submit(call)
    line.pump()
    return calls, line, call


def opened(stdout: int = 0, stderr: int = 0, input_offset: int = 0) -> dict[str, object]:
    return {
        "id": "e",
        "instance": "run 1",
        "pid": 7,
        "from": {"stdout": stdout, "stderr": stderr},
        "input_offset": input_offset,
    }


def test_a_string_is_for_the_shell_and_a_sequence_an_argv() -> None:
    assert program("ls | wc", cwd=None, env=None, timeout=None)["command"] == "ls | wc"
    assert program(("ls", "-l"), cwd="/", env={"A": None}, timeout=2) == {
        "argv": ["ls", "-l"],
        "cwd": "/",
        "env": {"A": None},
        "timeout": 2,
    }


async def test_both_streams_are_kept_apart_and_whole() -> None:
    _, line, call = make()
    line.event("opened", opened())
    line.data(OUT, 0, b"one ")
    line.data(ERR, 0, b"bad")
    line.data(OUT, 4, b"two")
    line.result({"code": 3, "timed_out": False, "stdout": 7, "stderr": 3})
    assert call.done.result() == CommandResult(3, stdout=b"one two", stderr=b"bad")


async def test_it_has_a_key_and_is_joined_again_from_where_it_was() -> None:
    calls, line, call = make()
    first = line.call
    assert line.params == {"argv": ["x"], "max_output": 1000}
    assert first.key
    line.event("opened", opened())
    line.data(OUT, 0, b"one ")
    line.data(ERR, 0, b"b")
    calls.line_down()
    again = MemoryLine(calls)
    assert again.call.key == first.key
    assert again.params == {"argv": ["x"], "max_output": 1000, "since": {"stdout": 4, "stderr": 1}}
    again.event("opened", opened(4, 1))
    again.data(OUT, 2, b"e two")  # a repeat in part
    again.result({"code": 0, "stdout": 7, "stderr": 1})
    assert call.done.result().stdout == b"one two"


async def test_stdin_goes_along_and_is_resumed() -> None:
    calls, line, call = make(stdin=True)
    assert call.feed
    await call.feed.write(b"abcdef")
    assert line.inputs() == [(0, b"abcdef")]
    assert line.params == {"argv": ["x"], "max_output": 1000, "stdin": True, "input": call.feed.id}
    calls.line_down()
    again = MemoryLine(calls)
    assert again.params["input"] == call.feed.id
    again.event("opened", opened(input_offset=2))
    assert again.inputs() == [(2, b"cdef")]


async def test_credit_is_given_back_as_output_is_kept() -> None:
    _, line, _ = make(window=100)
    line.event("opened", opened())
    line.data(OUT, 0, bytes(20))
    assert sum(credit.bytes for credit in line.of(Credit)) > 100


async def test_output_beyond_the_limit_is_not_kept_and_said() -> None:
    _, line, call = make(limit=10)
    assert line.params["max_output"] == 10
    line.event("opened", opened())
    line.data(OUT, 0, b"0123456789")
    line.result({"code": 0, "stdout": 500, "stderr": 0, "truncated": True})
    assert call.done.result() == CommandResult(0, stdout=b"0123456789", truncated=True)


async def test_output_that_is_missing_below_the_limit_is_lost_and_not_cut() -> None:
    _, line, call = make(limit=10)
    line.event("opened", opened())
    line.data(OUT, 0, b"012345678")
    line.result({"code": 0, "stdout": 500, "stderr": 0, "truncated": True})
    with pytest.raises(TruncatedError):
        await call.done


@pytest.mark.parametrize("where", ["opened", "event", "result"])
async def test_output_that_was_lost_is_never_skipped_silently(where: str) -> None:
    _, line, call = make()
    if where == "opened":
        line.event("opened", opened(5))
    else:
        line.event("opened", opened())
        if where == "event":
            line.event("truncated", {"stream": "stdout", "from": 5})
        else:
            line.result({"code": 0, "stdout": 5, "stderr": 0})
    with pytest.raises(TruncatedError) as caught:
        await call.done
    assert (caught.value.stream, caught.value.missing) == ("stdout", 5)


async def test_a_repeat_says_that_it_goes_on_only_if_it_had_begun() -> None:
    calls, _, _ = make()
    calls.line_down()
    assert MemoryLine(calls).params == {"argv": ["x"], "max_output": 1000}


async def test_a_second_run_is_never_taken_for_the_first() -> None:
    """The sandbox died with its keys: what runs now is another command."""
    calls, line, call = make()
    line.event("opened", opened())
    line.data(OUT, 0, b"one ")
    calls.line_down()
    again = MemoryLine(calls)
    again.event("opened", {**opened(4), "instance": "run 2"})
    with pytest.raises(HawseError) as caught:
        await call.done
    assert (caught.value.code, caught.value.admitted) == ("outcome_unknown", "yes")


async def test_a_stored_outcome_needs_no_opened() -> None:
    calls, line, call = make()
    line.event("opened", opened())
    line.data(OUT, 0, b"all")
    calls.line_down()
    MemoryLine(calls).result({"code": 0, "stdout": 3, "stderr": 0})
    assert call.done.result().stdout == b"all"
