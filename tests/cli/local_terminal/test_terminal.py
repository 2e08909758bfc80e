import asyncio
import os
import pty
import termios
from collections.abc import Iterator

import pytest

from hawse.cli.local_terminal.terminal import LocalTerminal
from hawse_runtime.posix.spawn import set_size


@pytest.fixture
def ends() -> Iterator[tuple[int, int]]:
    """The emulator's end of a PTY and the program's."""
    emulator, program = pty.openpty()
    yield emulator, program
    os.close(emulator)
    os.close(program)


async def test_keys_arrive_unprocessed_and_the_old_mode_comes_back(ends: tuple[int, int]) -> None:
    emulator, program = ends
    before = termios.tcgetattr(program)
    with LocalTerminal(program, program) as local:
        os.write(emulator, b"\x03\x1b[A")
        keys = local.input()
        assert await anext(keys) == b"\x03\x1b[A"
        await keys.aclose()  # type: ignore[attr-defined]
        assert termios.tcgetattr(program) != before
    assert termios.tcgetattr(program) == before


async def test_reading_never_blocks_the_loop_between_two_keys(ends: tuple[int, int]) -> None:
    emulator, program = ends
    with LocalTerminal(program, program) as local:
        keys = local.input()
        for key in (b"a", b"b", b"c"):
            waiting = asyncio.ensure_future(anext(keys))
            await asyncio.sleep(0)  # the loop keeps running while no key arrives
            os.write(emulator, key)
            assert await waiting == key


async def test_the_end_of_the_terminal_ends_the_keys() -> None:
    emulator, program = pty.openpty()
    local = LocalTerminal(program, program)
    local.__enter__()
    os.close(emulator)
    assert [key async for key in local.input()] == []
    os.close(program)


async def test_what_is_written_reaches_the_emulator(ends: tuple[int, int]) -> None:
    emulator, program = ends
    with LocalTerminal(program, program, leave=b"left") as local:
        await local.write(b"out\n")
    shown = b""
    while len(shown) < len(b"out\nleft"):  # the kernel may pass each write on by itself
        shown += os.read(emulator, 100)
    assert shown == b"out\nleft"


async def test_the_size_is_that_of_the_emulator_and_changes_are_reported(ends: tuple[int, int]) -> None:
    _, program = ends
    set_size(program, 100, 30)
    with LocalTerminal(program, program) as local:
        sizes = local.sizes()
        assert await anext(sizes) == (100, 30)
        set_size(program, 60, 20)
        os.kill(os.getpid(), 28)  # SIGWINCH, which the kernel sends to the foreground group
        assert await anext(sizes) == (60, 20)


async def test_a_pipe_is_no_terminal() -> None:
    read, write = os.pipe()
    try:
        with pytest.raises(OSError, match="Inappropriate ioctl"), LocalTerminal(read, write):
            pass
    finally:
        os.close(read)
        os.close(write)


async def test_leaving_resets_modes_after_an_exception_too(ends: tuple[int, int]) -> None:
    emulator, program = ends
    before = termios.tcgetattr(program)
    with pytest.raises(LookupError), LocalTerminal(program, program, leave=b"left"):
        raise LookupError
    assert os.read(emulator, 100) == b"left"
    assert termios.tcgetattr(program) == before


async def test_leaving_does_not_wait_for_a_terminal_that_accepts_nothing(ends: tuple[int, int]) -> None:
    _, program = ends
    before = termios.tcgetattr(program)
    with LocalTerminal(program, program):
        os.set_blocking(program, False)
        with pytest.raises(BlockingIOError):
            while True:
                os.write(program, b"x" * 4096)
    os.set_blocking(program, True)
    assert termios.tcgetattr(program) == before
