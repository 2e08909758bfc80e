"""A process: its output streams, its stdin, its exit, and the end of its process tree."""

import asyncio
import hashlib
import os
import signal
import sys
import time
from functools import cache
from pathlib import Path

import pytest

from hawse_runtime.core.tasks import Tasks
from hawse_runtime.core.thread_pool import ThreadPools
from hawse_runtime.journal.journal import JournalPool
from hawse_runtime.posix.oom import OomCounter
from hawse_runtime.posix.orphaned_pipes import OrphanedPipes
from hawse_runtime.posix.process_tree import ProcessTrees
from hawse_runtime.process.process import Process, ProcessContext, ProcessLimits, ProcessOptions
from hawse_runtime.settings import RuntimeLimits
from tests.support.runtime import Client, Served, alive
from tests.support.waiting import TIMEOUT, gone, lines

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
PRINT_NUMBERS = f"import sys; sys.stdout.buffer.writelines(b'%08d\\n' % n for n in range({LINES}))"


@cache  # not while pytest imports the module, which each of its processes does
def numbers() -> bytes:
    return b"%08d\n" * LINES % tuple(range(LINES))


def block_until_begun(*files: Path) -> None:
    """Wait until a program has written a line to each file. The event loop stands still: no timeout ends it before."""
    end = time.monotonic() + TIMEOUT
    while not all(file.exists() and file.read_text().endswith("\n") for file in files):
        assert time.monotonic() < end
        time.sleep(0.005)


async def test_stdout_and_stderr_are_separate_and_byte_for_byte(client: Client) -> None:
    run = client.call("exec", {"argv": [sys.executable, "-c", BYTES]})
    assert await run.result() | {"duration": None} == {
        "code": 0,
        "signal": None,
        "timed_out": False,
        "oom": None,
        "stdout": 1024000,
        "stderr": 1024000,
        "truncated": False,
        "duration": None,
    }
    assert bytes(run.output) == bytes(run.stderr) == bytes(range(256)) * 4000


async def test_a_big_stdin_reaches_a_slow_reader_whole(client: Client) -> None:
    data = numbers()
    run = client.call("exec", {"argv": [sys.executable, "-c", HASH], "stdin": True, "input": "i"})
    await run.type(data)
    run.end()
    await run.result()
    assert bytes(run.output).decode().strip() == hashlib.sha256(data).hexdigest()


async def test_a_call_ends_although_its_program_did_not_read_all_input(client: Client) -> None:
    run = client.execute("head -c 1", stdin=True, input="i")
    with pytest.raises(AssertionError, match="closed before"):
        while True:
            await run.type(bytes(100_000))
    assert (await run.result())["code"] == 0
    assert run.output == b"\0"


async def test_input_for_a_program_that_has_closed_its_stdin_is_applied_and_dropped(client: Client) -> None:
    run = client.execute("exec <&-; echo closed; sleep 60", stdin=True, input="i")
    await run.seen(b"closed\n")
    await run.type(bytes(1_000_000))
    await run.until(lambda: run.granted == 1_000_000)
    assert not run.closed


async def test_background_children_do_not_delay_the_result(client: Client) -> None:
    run = client.execute("sleep 60 & echo $!; echo x")
    assert (await run.result())["code"] == 0
    child, x = bytes(run.output).split()
    assert x == b"x"
    assert alive(int(child)), "the background child still runs"
    await client.execute(f"kill {int(child)}").result()


@pytest.mark.parametrize("limits", [RuntimeLimits(programs=ProcessLimits(kill_grace=0.05))])
async def test_a_timeout_keeps_the_output_and_kills_the_whole_tree(client: Client, tmp_path: Path) -> None:
    script = (
        f"exec 2>/dev/null; setsid sh -c 'trap \"\" TERM; echo $$ > {tmp_path}/away; while :; do sleep 60; done' & "
        f"sh -c 'echo $$ > {tmp_path}/near; exec sleep 60' & echo printed; trap '' TERM; "
        f"echo > {tmp_path}/begun; while :; do sleep 0.1; done"
    )
    run = client.execute(script, timeout=0.3)
    await run.event("opened")
    block_until_begun(*(tmp_path / name for name in ("away", "near", "begun")))
    result = await run.result()
    assert result | {"duration": None} == {
        "code": 124,
        "signal": None,
        "timed_out": True,
        "oom": None,
        "stdout": 8,
        "stderr": 0,
        "truncated": False,
        "duration": None,
    }
    assert run.output == b"printed\n"
    pids = [int((tmp_path / name).read_text()) for name in ("away", "near")]
    await gone(*pids)


async def test_a_timeout_gives_a_program_time_to_clean_up(client: Client, tmp_path: Path) -> None:
    script = f"trap 'echo cleaned; exit 0' TERM; echo ready; echo > {tmp_path}/begun; while :; do sleep 0.01; done"
    run = client.execute(script, timeout=0.3)
    await run.event("opened")
    block_until_begun(tmp_path / "begun")
    assert (await run.result())["code"] == 124
    assert run.output == b"ready\ncleaned\n"


async def test_the_exit_names_the_signal_that_ended_the_program(client: Client) -> None:
    assert (await client.execute("kill -KILL $$").result())["signal"] == "SIGKILL"


async def test_signals_reach_the_group_and_are_refused_after_the_end(client: Client) -> None:
    script = "trap 'echo usr1' USR1; echo ready; while :; do sleep 0.01; done"
    await client.ask("process.start", id="p", command=script)
    reader = client.call("process.attach", {"id": "p"})
    await reader.seen(b"ready\n")
    for count, name in enumerate(("USR1", "SIGUSR1", 10), 1):
        await client.ask("process.signal", id="p", signal=name)
        await reader.until(lambda: reader.output.count(b"usr1") == count)  # noqa: B023
    await client.ask("process.signal", id="p", signal="INT")
    assert (await reader.result())["exit"]["signal"] == "SIGINT"
    assert (await client.refused("process.signal", id="p", signal="INT")).code == "exited"
    assert (await client.refused("process.signal", id="p", signal="NONSENSE")).code == "invalid_params"
    assert (await client.refused("process.signal", id="p", signal=0)).code == "invalid_params"


async def test_a_kill_reaches_the_processes_that_an_ended_leader_left_running(client: Client, tmp_path: Path) -> None:
    """P2: one ignores TERM in the session, one is a daemon whose parents have all ended, one has no environment."""
    stubborn = f"trap '' TERM; echo $$ > {tmp_path}/near; while :; do sleep 60; done"
    daemon = f"(trap '' TERM; sh -c 'echo $PPID' > {tmp_path}/away; while :; do sleep 60; done) &"
    bare = f"echo $$ > {tmp_path}/bare; exec sleep 60"
    script = f"""sh -c "$A" & setsid sh -c "$B" & env -i sh -c '{bare}' & while ! [ -s {tmp_path}/bare ]; do :; done"""
    await client.ask("process.start", id="p", command=script, env={"A": stubborn, "B": daemon})
    files = [tmp_path / name for name in ("near", "away", "bare")]
    await lines(*files)
    assert (await client.call("process.attach", {"id": "p"}).result())["exit"]["code"] == 0
    pids = [int(file.read_text()) for file in files]
    assert all(map(alive, pids))
    assert (await client.ask("process.kill", id="p", grace=0.05))["exit"]["code"] == 0, "its exit code stays"
    assert not any(map(alive, pids))


async def test_a_runtime_that_ends_leaves_no_process_running(tmp_path: Path) -> None:
    async with Served(tmp_path) as served, served.client() as client:
        run = client.execute("nohup setsid sleep 60 >/dev/null 2>&1 & echo $!")
        await run.result()
        pid = int(run.output)
        assert alive(pid)
    await gone(pid)


async def test_only_a_sigkill_that_the_runtime_did_not_send_may_count_as_out_of_memory(
    tmp_path: Path, trees: ProcessTrees, pools: ThreadPools
) -> None:
    counter = tmp_path / "memory.events"
    counter.write_text("oom 0\noom_kill 0\n")
    async with asyncio.TaskGroup() as group:
        orphaned_pipes = OrphanedPipes()
        context = ProcessContext(
            tasks=Tasks(group),
            trees=trees,
            disk=pools.disk,
            journal=JournalPool().journal,
            orphaned_pipes=orphaned_pipes,
            oom=OomCounter(counter),
        )

        async def oom(sender: str, kills: int) -> bool | None:
            exited = asyncio.Event()
            options = ProcessOptions(argv=["sleep", "60"], cwd="/", env=dict(os.environ))
            process = Process("p", options, context, lambda _: exited.set())
            counter.write_text(f"oom 9\noom_kill {kills}\n")
            if sender == "end":
                await process.end(signal.SIGKILL, 0)
            elif sender == "signal":
                process.signal(signal.SIGKILL)
            else:
                os.kill(process.pid, signal.SIGKILL)
            await exited.wait()
            assert process.exit is not None
            assert process.exit.signal == "SIGKILL"
            return process.exit.oom

        assert await oom("kernel", 1) is True
        assert await oom("kernel", 1) is False, "that kill was counted already"
        assert await oom("signal", 2) is None
        assert await oom("end", 3) is None
        assert await oom("kernel", 4) is True
        orphaned_pipes.close()
