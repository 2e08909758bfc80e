"""Runs a provider's program, reads its output lines, and ends it together with its child processes."""

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

END_GRACE: Final = 3.0  # seconds between SIGTERM and SIGKILL
KILL_TIMEOUT: Final = 1.0  # seconds to wait after SIGKILL; the kernel needs only milliseconds
LINE_MAX: Final = 2 << 10  # maximum length of a line, in bytes; the rest of a longer line is dropped
FLOOD_PAUSE: Final = 0.01  # seconds between reads if output is continuous, to limit CPU usage
SETPRIV: Final = "setpriv"  # util-linux program that makes the kernel kill a program when the gateway dies

ReadLine = Callable[[str], Awaitable[None]]


async def run_program(
    arguments: Sequence[str], read_line: ReadLine, *, folder: Path, environment: Mapping[str, str]
) -> int:
    """Run a program, and wait until it ends. If the call is cancelled, end the program and its child processes.

    Args:
        arguments: The program's path and its arguments.
        read_line: Called with each line that the program writes to standard error.
        folder: The program's working directory.
        environment: The program's environment variables.

    Returns:
        The exit code, or a negative signal number.

    Raises:
        OSError: The program can't be started.
    """
    ours, theirs = os.pipe()
    try:
        os.set_blocking(ours, False)
        try:
            # The program is started in this thread, because the kernel kills it when the thread that started it ends.
            # asyncio's subprocess support can't be used, because it waits for pipes that child processes keep open, and
            # loses track of the program if cancelled while starting it.
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
            await asyncio.wait([reading], timeout=END_GRACE)  # the program's last lines may still be in the pipe
            reading.cancel()
        return code
    finally:
        os.close(ours)


async def lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """Yield the lines in a program's output, including an incomplete last line. Lines are cut off at LINE_MAX bytes."""
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
    """Yield data from a pipe, in chunks of at most LINE_MAX bytes, until all processes have closed the write end."""
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
    """Wait until a program ends, kill its child processes, and return its exit code. If cancelled, end the program."""
    pidfd = -1
    try:
        pidfd = os.pidfd_open(process.pid)
        try:
            await _readable(pidfd)
        finally:
            # The program leads its process group, whose id stays valid until the program is reaped.
            os.killpg(process.pid, signal.SIGTERM)
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
    """Return a command prefix that makes the kernel kill a program if the gateway dies. Raises `FileNotFoundError`."""
    setpriv = shutil.which(SETPRIV)
    if setpriv is None:
        raise FileNotFoundError(errno.ENOENT, f"the gateway's machine lacks {SETPRIV}, from the package util-linux")
    return [setpriv, "--pdeathsig", "TERM", "--"]
