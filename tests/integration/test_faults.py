"""Processes are killed or suspended in each state of a sandbox, or files removed: afterwards rows and reality agree."""

import asyncio
import os
import signal
from contextlib import suppress

import psutil
import pytest

import hawse
from tests.support.client import eventually
from tests.support.lifecycle import suspend, until_gone, until_state
from tests.support.runtime import alive
from tests.support.stack import Stack, post


@pytest.fixture
def stack(new_stack: Stack) -> Stack:
    """A separate gateway, since the tests kill it."""
    return new_stack


async def test_a_suspended_runtime_is_not_replaced_and_goes_on_as_it_was(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        box = await hw.sandboxes.create("a")
        process = await box.processes.start("sleep 300")
        pid = (await box.runtime()).pid
        await suspend(pid)
        try:
            assert (await box.info()).state == "failed"
            await stack.kill()  # with its link
            await stack.start()
            assert await post(stack, "/v1/sandboxes/a/exec", {"command": "true"}) == (503, "unavailable")
        finally:
            os.kill(pid, signal.SIGCONT)
        assert (await box.info()).state == "running"
        assert (await box.runtime()).pid == pid
        assert alive(process.pid)
        await box.delete()
        assert not alive(process.pid)


@pytest.mark.parametrize("fault", [signal.SIGKILL, signal.SIGSTOP])
async def test_a_runtime_that_is_killed_or_suspended_while_it_starts_leaves_nothing(
    stack: Stack, fault: signal.Signals
) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        creating = asyncio.ensure_future(post(stack, "/v1/sandbox.create", {"id": "a"}))
        await eventually(lambda: creating.done() or (stack.state / "sandboxes" / "a" / "process").exists())
        await eventually(lambda: creating.done() or stack.runtimes("a") != [])  # the start of a process is not an event
        struck = stack.runtimes("a")
        for process in struck:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(fault)
        status, _ = await creating
        # It was already ready; or the creation failed, nothing is left of it, and the id can be used again.
        assert status in (200, 503)
        if status == 503:
            await until_gone(hw, "a")
            assert not (stack.state / "sandboxes" / "a").exists()
        else:
            await hw.sandbox("a").delete()
        box = await hw.sandboxes.create("a")
        assert (await box.exec("echo 1")).stdout == b"1\n"
        assert not any(alive(process.pid) for process in struck)
        await box.delete()
        assert stack.runtimes("a") == []


async def test_a_suspended_runtime_is_stopped_and_a_gateway_killed_meanwhile_is_continued(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        boxes = [await hw.sandboxes.create(id) for id in ("deleted", "stopped")]
        pids = [(await box.runtime()).pid for box in boxes]
        programs = [(await box.processes.start("trap '' TERM; sleep 300")).pid for box in boxes]
        for pid in pids:
            await suspend(pid)  # so that they end only when they are killed
        deleting, stopping = asyncio.ensure_future(boxes[0].delete()), asyncio.ensure_future(boxes[1].stop())
        await until_state(hw, "deleted", "deleting", None)
        await until_state(hw, "stopped", "stopping", "stopped")
        await stack.kill()
        await stack.start()
        await asyncio.gather(deleting, stopping, return_exceptions=True)
        await until_state(hw, "stopped", "stopped")
        await until_gone(hw, "deleted")
        assert not any(map(alive, [*pids, *programs]))
        assert not (stack.state / "sandboxes" / "deleted").exists()
        await boxes[1].wake()
        assert (await boxes[1].exec("echo 1")).stdout == b"1\n"


async def test_a_runtime_that_is_killed_while_it_is_stopped_leaves_nothing(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        box = await hw.sandboxes.create("a")
        program = (await box.processes.start("trap '' TERM; sleep 300")).pid
        pid = (await box.runtime()).pid
        await suspend(pid)  # so that it does not end on its own
        stopping = asyncio.ensure_future(box.stop())
        await until_state(hw, "a", "stopping", "stopped")
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        await stopping
        assert (await box.info()).state == "stopped"
        assert not alive(pid)
        assert not alive(program)
        await box.wake()
        assert (await box.exec("echo 1")).stdout == b"1\n"


async def test_a_runtime_that_has_lost_its_socket_is_ended_before_the_next_one_starts(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        box = await hw.sandboxes.create("a")
        process = await box.processes.start("sleep 300")
        pid = (await box.runtime()).pid
        (socket,) = (stack.state / "sandboxes" / "a").rglob("*.sock")
        socket.unlink()
        await stack.kill()  # with its link
        await stack.start()
        assert (await box.exec("echo 1")).stdout == b"1\n"
        assert not alive(pid)
        assert not alive(process.pid)
        assert len(stack.runtimes("a")) == 1


async def test_a_store_that_was_lost_does_not_leave_what_ran(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        box = await hw.sandboxes.create("a")
        process = await box.processes.start("sleep 300")
        pid = (await box.runtime()).pid
    await stack.kill()
    stack.lose_store()
    await stack.start()
    async with hawse.connect(stack.base, token=stack.token) as hw:
        box = hw.sandbox("a")
        assert (await box.runtime()).pid == pid, "it was adopted, as from a version without a store"
        await box.delete()
    assert not alive(pid)
    assert not alive(process.pid)
