"""Background children can write after their command has exited, and a flood of them is read slowly."""

import asyncio
import os

import pytest

from hawse_runtime.journal.journal import LEAST_CAPACITY
from hawse_runtime.journal.limits import JournalLimits
from hawse_runtime.posix.orphaned_pipes import PAUSE, READ_SIZE, OrphanedPipes
from tests.support.runtime import Client, Served, eventually, no_fd_leaked
from tests.support.sessions import execute
from tests.support.waiting import exists

LATER = "(until [ -e go ]; do sleep 0.01; done; echo later; echo late >&2; touch lived) & echo now"


async def test_a_background_child_continues_after_its_command(client: Client, served: Served) -> None:
    await client.ask("session.create", id="s")
    for start in ("exec", "process", "session"):
        if start == "exec":
            call = client.execute(LATER)
        elif start == "session":
            call = execute(client, LATER)
        else:
            await client.ask("process.start", id="p", command=LATER)
            call = client.call("process.attach", {"id": "p"})
        await call.result()
        assert call.output == b"now\n"
        (served.workspace / "go").touch()
        await exists(served.workspace / "lived")
        for name in ("go", "lived"):
            (served.workspace / name).unlink()
    await eventually(lambda: not len(served.runtime.orphaned_pipes))  # pipes are closed without an event


async def test_a_pipe_is_closed_at_its_end_or_when_there_are_too_many() -> None:
    with no_fd_leaked():
        orphans = OrphanedPipes(limit=2)
        pipes = [os.pipe() for _ in range(3)]
        for read, _ in pipes:
            orphans.take(read)
            os.close(read)
        assert len(orphans) == 2
        with pytest.raises(BrokenPipeError):
            os.write(pipes[0][1], b"x")
        os.write(pipes[1][1], b"x")
        for _, write in pipes:
            os.close(write)
        await eventually(lambda: not len(orphans))  # as above


async def test_a_flood_is_read_slowly_and_ends_with_the_runtime() -> None:
    with no_fd_leaked():
        orphans = OrphanedPipes()
        read, write = os.pipe()
        os.set_blocking(write, False)
        orphans.take(read)
        os.close(read)
        written = 0
        loop = asyncio.get_running_loop()
        began = loop.time()
        for _ in range(100):
            try:
                written += os.write(write, bytes(1 << 16))
            except BlockingIOError:
                await asyncio.sleep(0)  # a turn of the event loop, during which the pipe can be read
        pauses = (loop.time() - began) / PAUSE  # few, unless the machine is slow
        assert written <= (3 + pauses) * READ_SIZE
        orphans.close()
        os.close(write)


async def test_a_command_without_memory_for_its_output_leaks_no_descriptor(client: Client, served: Served) -> None:
    await client.ask("session.create", id="s")
    served.runtime.journals.limits = JournalLimits(total=LEAST_CAPACITY)
    with no_fd_leaked():
        assert (await execute(client, "true").refusal()).code == "limit_exceeded"
    served.runtime.journals.limits = JournalLimits(total=8 * LEAST_CAPACITY)
    assert (await execute(client, "true").result())["code"] == 0
