import asyncio
import os
import sys

import pytest

from hawse_gateway.providers.ready_pipe import ReadyPipe

LONG = 60.0  # s: a test that waits for so long has failed


async def finished(pipe: ReadyPipe) -> None:
    async with asyncio.timeout(LONG / 2):
        await pipe.wait(LONG)


def write(pipe: ReadyPipe) -> None:
    with pipe.lent() as theirs:
        os.write(theirs, b"1")


async def test_a_byte_ends_the_wait_once() -> None:
    with ReadyPipe() as pipe:
        write(pipe)
        await finished(pipe)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await pipe.wait(LONG)


async def test_the_end_of_the_process_ends_the_wait() -> None:
    with ReadyPipe() as pipe:
        with pipe.lent() as theirs:
            process = await asyncio.create_subprocess_exec(sys.executable, "-I", "-S", "-c", "", pass_fds=[theirs])
        await finished(pipe)
        assert await process.wait() == 0


async def test_without_a_byte_the_wait_takes_the_seconds_and_can_be_repeated() -> None:
    with ReadyPipe() as pipe:
        await pipe.wait(0.001)
        await pipe.wait(0.001)
        write(pipe)
        await finished(pipe)


def test_nothing_is_lent_after_the_end() -> None:
    with ReadyPipe() as pipe:
        pass
    with pytest.raises(OSError, match="cancelled"), pipe.lent():
        pass
