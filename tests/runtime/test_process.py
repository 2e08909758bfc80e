"""A process: two streams byte for byte, stdin, its end, and readers that come and go."""

import hashlib
import sys
from pathlib import Path

import pytest

from runtime import pace, process
from tests.runtime.support import Client, Served, alive, eventually

BYTES = """
import os
data = bytes(range(256)) * 4000
for fd in (1, 2):
    at = 0
    while at < len(data):
        at += os.write(fd, data[at:])
"""
HASH = """
import hashlib, sys
hashed = hashlib.sha256()
while data := sys.stdin.buffer.read1(4096):
    hashed.update(data)
print(hashed.hexdigest())
"""
LINES = 500_000
NUMBERS = b"".join(b"%08d\n" % n for n in range(LINES))
PRINT_NUMBERS = f"import sys; sys.stdout.buffer.writelines(b'%08d\\n' % n for n in range({LINES}))"


async def test_stdout_and_stderr_are_separate_and_byte_for_byte(client: Client) -> None:
    run = client.call("exec", {"argv": [sys.executable, "-c", BYTES]})
    assert await run.result() == {
        "code": 0,
        "signal": None,
        "timed_out": False,
        "oom": None,
        "stdout": 1024000,
        "stderr": 1024000,
    }
    assert bytes(run.output) == bytes(run.stderr) == bytes(range(256)) * 4000


async def test_a_big_stdin_reaches_a_slow_reader_whole(client: Client) -> None:
    data = NUMBERS
    run = client.call("exec", {"argv": [sys.executable, "-c", HASH], "stdin": True, "input": "i"})
    await run.type(data)
    run.end()
    await run.result()
    assert bytes(run.output).decode().strip() == hashlib.sha256(data).hexdigest()


async def test_what_a_program_does_not_read_of_its_stdin_costs_nothing(client: Client) -> None:
    run = client.execute("head -c 1", stdin=True, input="i")
    with pytest.raises(AssertionError, match="closed before"):
        while True:
            await run.type(bytes(100_000))
    assert (await run.result())["code"] == 0
    assert run.output == b"\0"


async def test_a_program_that_closes_its_stdin_and_runs_on_takes_the_rest_as_read(client: Client) -> None:
    run = client.execute("exec <&-; echo closed; sleep 60", stdin=True, input="i")
    await run.seen(b"closed\n")
    await run.type(bytes(1_000_000))
    await eventually(lambda: run.granted == 1_000_000)
    assert not run.closed


async def test_background_children_do_not_keep_a_command(client: Client) -> None:
    run = client.execute("sleep 60 & echo $!; echo x")
    assert (await run.result())["code"] == 0
    child, x = bytes(run.output).split()
    assert x == b"x"
    assert alive(int(child)), "what it left in the background goes on"
    await client.execute(f"kill {int(child)}").result()


async def test_a_timeout_keeps_what_was_printed_and_kills_the_whole_tree(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "KILL_GRACE", 0.05)
    script = (
        f"exec 2>/dev/null; setsid sh -c 'trap \"\" TERM; echo $$ > {tmp_path}/away; while :; do sleep 60; done' & "
        f"sh -c 'echo $$ > {tmp_path}/near; exec sleep 60' & echo printed; trap '' TERM; while :; do sleep 0.1; done"
    )
    run = client.execute(script, timeout=0.3)
    result = await run.result()
    assert result == {"code": 124, "signal": None, "timed_out": True, "oom": None, "stdout": 8, "stderr": 0}
    assert run.output == b"printed\n"
    pids = [int((tmp_path / name).read_text()) for name in ("away", "near")]
    await eventually(lambda: not any(map(alive, pids)))


async def test_a_timeout_gives_a_program_time_to_clean_up(client: Client) -> None:
    run = client.execute("trap 'echo cleaned; exit 0' TERM; echo ready; while :; do sleep 0.01; done", timeout=0.3)
    assert (await run.result())["code"] == 124
    assert run.output == b"ready\ncleaned\n"


async def test_a_signal_ends_with_its_name(client: Client) -> None:
    assert (await client.execute("kill -KILL $$").result())["signal"] == "SIGKILL"


async def test_a_flood_is_held_back_by_its_reader_and_arrives_whole(client: Client) -> None:
    run = client.call("exec", {"argv": [sys.executable, "-c", PRINT_NUMBERS]}, generous=False)
    while len(run.output) < len(NUMBERS):
        run.grant(200_000)
        due = min(len(run.output) + 100_000, len(NUMBERS))
        await run.until(lambda: len(run.output) >= due)  # noqa: B023
    await run.result()
    assert bytes(run.output) == NUMBERS
    assert run.value["stdout"] == len(NUMBERS)


async def test_what_the_journal_lost_is_declared(
    served: Served, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    served.runtime._processes._journals._each = 1 << 20
    for name in ("PATIENCE", "LOSSLESS_PATIENCE"):
        monkeypatch.setattr(pace, name, 0.02)
    run = client.call("exec", {"argv": [sys.executable, "-c", PRINT_NUMBERS]}, generous=False)
    await run.event("opened")
    await eventually(lambda: not served.runtime._processes._execs)
    await client.info()
    taken = len(run.output)
    run.generous = True
    run.grant(1 << 20)
    lost = await run.event("truncated")
    await run.result()
    assert lost["stream"] == "stdout"
    assert lost["from"] > taken
    assert bytes(run.output) == NUMBERS[:taken] + NUMBERS[lost["from"] :]


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
    assert third.output == b"abc\ngo\n", "an ended one can still be read"


async def test_input_is_applied_once_whoever_resends_it(client: Client) -> None:
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


async def test_input_that_is_not_allowed_ends_its_call_with_what_is_applied(client: Client) -> None:
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


async def test_who_only_looks_cannot_end_the_stdin(client: Client) -> None:
    await client.ask("process.start", id="p", command="exec cat", stdin=True)
    looks = client.call("process.attach", {"id": "p"})
    looks.end()
    writes = client.call("process.attach", {"id": "p", "input": "i"})
    writes.send(b"still there")
    await looks.seen(b"still there")
    writes.end()
    await looks.result()


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


async def test_signals_reach_the_group_and_an_ended_process_says_so(client: Client) -> None:
    script = "trap 'echo usr1' USR1; echo ready; while :; do sleep 0.01; done"
    await client.ask("process.start", id="p", command=script)
    reader = client.call("process.attach", {"id": "p"})
    await reader.seen(b"ready\n")
    for told, name in enumerate(("USR1", "SIGUSR1", 10), 1):
        await client.ask("process.signal", id="p", signal=name)
        await reader.until(lambda: reader.output.count(b"usr1") == told)  # noqa: B023
    await client.ask("process.signal", id="p", signal="INT")
    assert (await reader.result())["exit"]["signal"] == "SIGINT"
    assert (await client.refused("process.signal", id="p", signal="INT")).code == "exited"
    assert (await client.refused("process.signal", id="p", signal="NONSENSE")).code == "invalid_params"
    assert (await client.refused("process.signal", id="p", signal=0)).code == "invalid_params"
