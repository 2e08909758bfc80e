"""Runs a provider's program: passes on its output lines, and ends it together with its child processes."""

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
FLOOD_PAUSE: Final = 0.01  # s between reads while more lines are waiting: a flood of lines must not take the processor
SETPRIV: Final = "setpriv"  # of util-linux: makes the kernel end a program with the gateway, even a killed one

ReadLine = Callable[[str], Awaitable[None]]


async def run_program(
    arguments: Sequence[str], read_line: ReadLine, *, folder: Path, environment: Mapping[str, str]
) -> int:
    """Run a program and wait for its end. It ends with this call, with its child processes, and with the gateway.

    Args:
        arguments: The path of the program and its arguments.
        read_line: Called with each line of its standard error.
        folder: Its working directory.
        environment: Its environment variables.

    Returns:
        Its exit code; a negative number for a signal.

    Raises:
        OSError: It cannot be started.
    """
    ours, theirs = os.pipe()
    try:
        os.set_blocking(ours, False)
        try:
            # In this thread, because the kernel ends the program with the thread that started it. Not with asyncio,
            # whose pipes stay open as long as any process has them, and which loses a program if cancelled here.
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
    """Yield the lines of a program's output, including an unfinished last line. Lines are cut at LINE_MAX bytes."""
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
    """Yield data from a pipe, up to LINE_MAX bytes at a time, until no process holds its other end."""
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
    """Wait for a program's end, kill its child processes, and return its code. Cancelling ends the program."""
    pidfd = -1
    try:
        pidfd = os.pidfd_open(process.pid)
        try:
            await _readable(pidfd)
        finally:
            os.killpg(process.pid, signal.SIGTERM)  # it leads its group, and keeps its number until it is reaped
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
    """Return the command prefix that makes the kernel end a program with the gateway. Raises `FileNotFoundError`."""
    setpriv = shutil.which(SETPRIV)
    if setpriv is None:
        raise FileNotFoundError(errno.ENOENT, f"the gateway's machine lacks {SETPRIV}, of the package util-linux")
    return [setpriv, "--pdeathsig", "TERM", "--"]
