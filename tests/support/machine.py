"""Machines that join a gateway: `hawse join` as a separate process, and `Machine` in the test's process."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import psutil

from hawse.client import Options
from hawse.machine import Machine, MachineState
from tests.support.stack import Stack, only_runtimes
from tests.support.waiting import Changes

QUICK = Options(backoff_cap=0.1, ping_interval=0.5)
SECONDS = 30  # until a machine has joined, or has ended


class Joining:
    """A machine in the test's process.

    Attributes:
        states: All states that it has reported.
    """

    def __init__(self, task: "asyncio.Task[str | Exception]", changes: Changes) -> None:
        self.states: list[MachineState] = []
        self._task = task
        self._changes = changes

    async def joined(self, times: int = 1) -> None:
        """Wait until it has joined `times` times. Raises the error if it ends before that."""
        await self._changes.until(lambda: self._task.done() or self.states.count(MachineState.JOINED) >= times)
        if self._task.done():
            await self.ended()

    async def ended(self) -> str:
        """Wait for its end, and return the reason. Raises the same error as `run`."""
        async with asyncio.timeout(SECONDS):
            result = await asyncio.shield(self._task)
        if isinstance(result, Exception):
            raise result
        return result


@asynccontextmanager
async def joining(
    url: str, token: str, directory: Path, *, sandbox: str | None = None, state: Path | None = None
) -> AsyncIterator[Joining]:
    """Join, and leave at the end of the context."""
    changes = Changes()
    found: list[Joining] = []

    def note(state: MachineState, text: str) -> None:
        found[0].states.append(state)
        changes.notify()

    machine = Machine(
        url,
        token=token,
        sandbox=sandbox,
        directory=directory,
        state=state or directory.parent / f"{directory.name}-state",
        options=QUICK,
        on_state=note,
    )
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(_settled(machine))
        task.add_done_callback(lambda _: changes.notify())
        found.append(Joining(task, changes))
        try:
            yield found[0]
        finally:
            machine.stop()
            async with asyncio.timeout(SECONDS):
                await asyncio.shield(task)


async def _settled(machine: Machine) -> str | Exception:
    try:
        return await machine.run()
    except Exception as error:  # for the test to inspect
        return error


class JoinProcess:
    """`hawse join`, started as a user would.

    Attributes:
        printed: The lines printed so far.
    """

    def __init__(self, process: asyncio.subprocess.Process, state: Path) -> None:
        self.process = process
        self.state = state
        self.printed: list[str] = []
        self.changes = Changes()

    @property
    def sandbox(self) -> str:
        return next(line.split()[5] for line in self.printed if line.startswith("This machine is now sandbox"))

    async def follow(self) -> None:
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            self.printed.append(line.decode().rstrip())
            self.changes.notify()

    async def prints(self, text: str, times: int = 1) -> None:
        """Wait for a line that contains a text."""
        async with asyncio.timeout(SECONDS):
            await self.changes.until(lambda: sum(text in line for line in self.printed) >= times)

    def runtime(self) -> psutil.Process:
        """The running runtime."""
        (found,) = only_runtimes(self.programs())
        return found

    def programs(self) -> list[psutil.Process]:
        """The runtime and all its descendants."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if str(self.state) in " ".join(process.cmdline()):
                    found += [process, *process.children(recursive=True)]
        return [one for one in dict.fromkeys(found) if one.pid != self.process.pid]


@asynccontextmanager
async def join_process(
    stack: Stack, directory: Path, *arguments: str, token: str | None = None, url: str | None = None
) -> AsyncIterator[JoinProcess]:
    """Start `hawse join`. At the end of the context, interrupt it like Ctrl-C, unless it has already ended."""
    state = directory.parent / "xdg"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "hawse.cli", "join", url or stack.base, "--token", token or stack.token),
        *("--directory", str(directory), *arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**{k: v for k, v in os.environ.items() if not k.startswith("HAWSE_")}, "XDG_STATE_HOME": str(state)},
    )
    found = JoinProcess(process, state)
    async with asyncio.TaskGroup() as tasks:
        following = tasks.create_task(found.follow())
        try:
            yield found
        finally:
            with suppress(ProcessLookupError):
                process.terminate()
            try:
                await asyncio.wait_for(process.wait(), SECONDS)
            finally:
                with suppress(ProcessLookupError):
                    process.kill()
                left = found.programs()
                for one in left:
                    with suppress(psutil.Error):
                        one.kill()
                following.cancel()
