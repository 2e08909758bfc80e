"""One reader of a process: its offsets, input that is applied once, and its bounds."""

import sys
from functools import cache

import pytest

from hawse_runtime.journal.limits import FlowLimits, JournalLimits
from hawse_runtime.settings import RuntimeLimits
from tests.support import processes
from tests.support.runtime import Client, Served

BRIEF = FlowLimits(stall_timeout=0.02, lossless_stall_timeout=0.02)
LINES = 500_000
PRINT_NUMBERS = f"import sys; sys.stdout.buffer.writelines(b'%08d\\n' % n for n in range({LINES}))"


@cache  # not while pytest imports the module, which each of its processes does
def numbers() -> bytes:
    return b"%08d\n" * LINES % tuple(range(LINES))


SMALL_JOURNALS = pytest.mark.parametrize("limits", [RuntimeLimits(journals=JournalLimits(each=1 << 20))])


async def test_a_slow_reader_slows_the_program_down_and_gets_all_output(client: Client) -> None:
    run = client.call("exec", {"argv": [sys.executable, "-c", PRINT_NUMBERS]}, generous=False)
    while len(run.output) < len(numbers()):
        run.grant(200_000)
        due = min(len(run.output) + 100_000, len(numbers()))
        await run.until(lambda: len(run.output) >= due)  # noqa: B023
    await run.result()
    assert bytes(run.output) == numbers()
    assert run.value["stdout"] == len(numbers())


@pytest.mark.parametrize("limits", [RuntimeLimits(journals=JournalLimits(each=1 << 20, flow=BRIEF))])
async def test_bytes_that_the_journal_lost_are_reported_by_an_event(served: Served, client: Client) -> None:
    run = client.call("exec", {"argv": [sys.executable, "-c", PRINT_NUMBERS]}, generous=False)
    await run.event("opened")
    await processes.exited(*served.runtime.execs.registry.running)
    await client.info()
    taken = len(run.output)
    run.generous = True
    run.grant(1 << 20)
    lost = await run.event("truncated")
    await run.result()
    assert lost["stream"] == "stdout"
    assert lost["from"] > taken
    assert bytes(run.output) == numbers()[:taken] + numbers()[lost["from"] :]


async def test_an_attached_reader_resumes_each_stream_at_its_offset(client: Client) -> None:
    await client.ask("process.start", id="p", command="echo abc; echo xyz >&2; read x; echo $x", stdin=True)
    first = client.call("process.attach", {"id": "p", "input": "i"})
    await first.until(lambda: first.output == b"abc\n" and first.stderr == b"xyz\n")
    second = client.call("process.attach", {"id": "p", "input": "j", "since": {"stdout": 2, "stderr": 4}})
    opened = await second.event("opened")
    assert opened["from"] == {"stdout": 2, "stderr": 4}
    assert opened["state"] == "running"
    second.send(b"go\n")
    assert await second.result() == {
        "exit": {"code": 0, "signal": None, "timed_out": False, "oom": None},
        "stdout": 7,
        "stderr": 4,
    }
    assert second.output == b"c\ngo\n"
    assert second.stderr == b""
    assert (await second.event("exit"))["code"] == 0
    await first.result()
    assert first.output == b"abc\ngo\n"
    third = client.call("process.attach", {"id": "p"})
    await third.result()
    assert third.output == b"abc\ngo\n", "an ended process can still be read"


async def test_input_that_is_sent_again_is_applied_once(client: Client) -> None:
    await client.ask("process.start", id="p", command="exec cat", stdin=True)
    first = client.call("process.attach", {"id": "p", "input": "i"})
    await first.event("opened")
    first.send(b"hello ")
    await first.seen(b"hello ")
    first.cancel()
    second = client.call("process.attach", {"id": "p", "input": "i"})
    assert (await second.event("opened"))["input_offset"] == 6
    second.send(b"hello world", offset=0)
    await second.seen(b"hello world")
    second.end()
    await second.result()
    assert second.output == b"hello world"


async def test_input_that_is_not_allowed_ends_its_call_with_the_applied_offset(client: Client) -> None:
    await client.ask("process.start", id="p", command="exec cat", stdin=True)
    await client.ask("process.start", id="q", command="exec sleep 60")
    reader = client.call("process.attach", {"id": "p", "input": "i"})
    gap = client.call("process.attach", {"id": "p", "input": "i"})
    gap.send(b"x", offset=1)
    assert (await gap.refusal()).details == {"applied": 0}
    nameless = client.call("process.attach", {"id": "p"})
    nameless.send(b"x")
    assert (await nameless.refusal()).code == "protocol_error"
    no_stdin = client.call("process.attach", {"id": "q", "input": "i"})
    no_stdin.send(b"x")
    assert (await no_stdin.refusal()).code == "protocol_error"
    reader.send(b"abc")
    reader.end()
    late = client.call("process.attach", {"id": "p", "input": "other"})
    late.send(b"x")
    error = await late.refusal()
    assert (error.code, error.details) == ("exited", {"applied": 0})
    await reader.result()


async def test_a_reader_without_input_cannot_end_stdin(client: Client) -> None:
    await client.ask("process.start", id="p", command="exec cat", stdin=True)
    reader = client.call("process.attach", {"id": "p"})
    reader.end()
    writer = client.call("process.attach", {"id": "p", "input": "i"})
    writer.send(b"still open")
    await reader.seen(b"still open")
    writer.end()
    await reader.result()


async def test_input_is_bounded_when_a_program_does_not_read(served: Served) -> None:
    async with served.client() as client:
        await client.ask("process.start", id="p", command="exec sleep 60", stdin=True)
        applied = 0
        for _ in range(20):
            call = client.call("process.attach", {"id": "p", "input": "i"})
            applied = (await call.event("opened"))["input_offset"]
            for offset in range(applied, applied + (1 << 18), 1 << 16):
                call.send(bytes(1 << 16), offset=offset)
            done = await client.info()
            assert done
            if call.closed:
                break
            call.cancel()
        error = await call.refusal()
        assert error.code == "input_overflow"
        assert error.retryable
        assert error.details == {
            "applied": (await client.call("process.attach", {"id": "p", "input": "i"}).event("opened"))["input_offset"]
        }
        assert applied <= (1 << 20) + (1 << 17)


async def test_output_beyond_max_output_is_not_sent_and_the_result_is_truncated(client: Client) -> None:
    """The rest does not slow the program down, even without credit. The offsets include it."""
    script = "head -c 300 /dev/zero; head -c 100 /dev/zero >&2; head -c 30000000 /dev/zero"
    run = client.call("exec", {"command": script, "max_output": 200}, generous=False, window=2000)
    result = await run.result()
    assert (result["stdout"], result["stderr"], result["truncated"]) == (30_000_300, 100, True)
    assert (len(run.output), len(run.stderr)) == (200, 100)
    exact = client.execute("printf 12345", max_output=5)
    assert (await exact.result())["truncated"] is False
    nothing = client.execute("printf 12345", max_output=0)
    assert (await nothing.result())["truncated"] is True
    assert not nothing.output


async def test_a_stream_with_max_output_is_resumed_within_that_bound(served: Served) -> None:
    params = {"command": "printf 1234567890; read x", "stdin": True, "max_output": 6}
    async with served.client() as client:
        first = client.call("exec", {**params, "input": "i"}, key="k")
        await first.until(lambda: len(first.output) == 6)
    async with served.client() as client:
        again = client.call("exec", {**params, "input": "i", "since": {"stdout": 4}}, key="k")
        again.send(b"\n")
        assert (await again.result())["truncated"] is True
        assert again.output == b"56"


@SMALL_JOURNALS
async def test_old_output_is_read_from_disk_and_newer_output_from_memory(client: Client) -> None:
    await client.ask("process.start", id="p", argv=[sys.executable, "-c", PRINT_NUMBERS])
    await client.ask("process.wait", id="p", exit=True)
    info = await client.ask("process.get", id="p")
    assert info["stdout"] == {"start": 0, "offset": len(numbers())}
    whole = client.call("process.attach", {"id": "p"})
    await whole.result()
    assert bytes(whole.output) == numbers()
    assert not [event for event in whole.events if event.name == "truncated"]
    part = client.call("process.attach", {"id": "p", "since": {"stdout": 1_234_567}})
    await part.result()
    assert bytes(part.output) == numbers()[1_234_567:]


@SMALL_JOURNALS
async def test_a_reader_of_old_output_does_not_slow_the_program_down(client: Client) -> None:
    script = f"{PRINT_NUMBERS}; sys.stdout.flush(); sys.stdin.read(1); sys.stdout.buffer.write(b'x' * 3_000_000)"
    await client.ask("process.start", id="p", argv=[sys.executable, "-c", script], stdin=True)
    await client.ask("process.wait", id="p", log={"text": f"{LINES - 1:08d}"})
    old = client.call("process.attach", {"id": "p", "input": "i"}, generous=False, window=1000)
    await old.event("opened")
    old.send(b"g")
    ended = await client.ask("process.wait", id="p", exit=True)
    assert ended["event"] == "exit"
    old.generous = True
    old.grant(1 << 20)
    await old.result()
    assert bytes(old.output) == numbers() + b"x" * 3_000_000
