"""Runs the program of a provider: passes on the lines that it writes, and ends it with all that it has started."""

import asyncio
import errno
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

END_GRACE: Final = 3.0  # s from SIGTERM to SIGKILL
KILL_TIMEOUT: Final = 1.0  # s from SIGKILL to the end; the kernel needs milliseconds
LINE_MAX: Final = 2 << 10  # bytes; the rest of a longer line is dropped
FLOOD_PAUSE: Final = 0.01  # s before the next read while there is more: a flood of lines must not take the processor
SETPRIV: Final = "setpriv"  # of util-linux: makes the kernel end a program with the gateway, also if that is killed

ReadLine = Callable[[str], Awaitable[None]]


async def run_program(
    arguments: Sequence[str], read_line: ReadLine, *, folder: Path, environment: Mapping[str, str]
) -> int:
    """Run a program and wait for its end. It ends with this call, with what it has started, and with the gateway.

    Args:
        arguments: The path of the program and its arguments.
        read_line: Is called with each line that it writes to its standard error.
        folder: Where it runs.
        environment: Its variables.

    Returns:
        Its code; below zero: the signal that has ended it.

    Raises:
        OSError: It cannot be started.
    """
    ours, theirs = os.pipe()
    try:
        os.set_blocking(ours, False)
        try:
            # In this thread, because the kernel ends the program with the thread that has started it. Not with asyncio,
            # whose pipes stay open as long as any program has them, and which loses a program that is cancelled here.
            process = subprocess.Popen(  # noqa: ASYNC220  # the kernel needs about a millisecond
                [*_dies_with_gateway(), *arguments],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=theirs,
                start_new_session=True,
            )
        finally:
            os.close(theirs)
        async with asyncio.TaskGroup() as tasks:
            reading = tasks.create_task(_read(ours, read_line), name="output of a program")
            code = await _ended(process)
            await asyncio.wait([reading], timeout=END_GRACE)  # until it has passed on the last lines
            reading.cancel()
        return code
    finally:
        os.close(ours)


async def lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """Yield the lines that a program writes, and the last one without its end. Of a line, up to LINE_MAX bytes."""
    rest = b""
    async for data in chunks:
        *whole, rest = (rest + data).split(b"\n")
        for line in whole:
            if line:
                yield line[:LINE_MAX].decode(errors="replace")
        rest = rest[:LINE_MAX]
    if rest:
        yield rest.decode(errors="replace")


async def _read(pipe: int, read_line: ReadLine) -> None:
    async for line in lines(_chunks(pipe)):
        await read_line(line)


async def _chunks(pipe: int) -> AsyncIterator[bytes]:
    """Yield what comes out of a pipe, up to LINE_MAX bytes at a time, until no program has its other end."""
    while True:
        try:
            data = os.read(pipe, LINE_MAX)
        except BlockingIOError:
            await _readable(pipe)
            continue
        if not data:
            return
        yield data
        if len(data) == LINE_MAX:
            await asyncio.sleep(FLOOD_PAUSE)


async def _ended(process: "subprocess.Popen[bytes]") -> int:
    """Wait for the end of a program, end what it has started, and return its code. It is ended if this is cancelled."""
    pidfd = -1
    try:
        pidfd = os.pidfd_open(process.pid)
        try:
            await _readable(pidfd)
        finally:
            os.killpg(process.pid, signal.SIGTERM)  # it leads its group, and has its number until it is reaped
            with suppress(TimeoutError):
                async with asyncio.timeout(END_GRACE):
                    await _readable(pidfd)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        if pidfd >= 0:
            os.close(pidfd)
        with suppress(subprocess.TimeoutExpired):
            process.wait(KILL_TIMEOUT)
    return process.returncode


async def _readable(fd: int) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(fd, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(fd)


def _dies_with_gateway() -> list[str]:
    """Return what makes the kernel end a program with the gateway. Raises `FileNotFoundError`."""
    setpriv = shutil.which(SETPRIV)
    if setpriv is None:
        raise FileNotFoundError(errno.ENOENT, f"the gateway's machine lacks {SETPRIV}, of the package util-linux")
    return [setpriv, "--pdeathsig", "TERM", "--"]
