"""`hawse attach`, the asynchronous and the synchronous client share a terminal while the gateway is killed."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from string import ascii_lowercase, ascii_uppercase, digits

import pexpect
import pytest_asyncio

import hawse
import hawse.sync
from tests.support.stack import Stack

COUNT = 4000  # bytes that each client types
PIECE = 100  # bytes that it types at a time
TIMEOUT = 60.0  # s
BEGIN, END = b"<<begin>>", b"<<end>>"
# Prints its input, byte for byte, and keeps a copy.
PROGRAM = f"stty raw -echo; printf '<<begin>>'; head -c {3 * COUNT} | tee copy; printf '<<end>>'; exec sleep 1000"


def pattern(alphabet: str) -> bytes:
    """Return one client's input: its own letters, in order, repeatedly."""
    return (alphabet * COUNT)[:COUNT].encode()


def printed(output: bytes) -> bytes:
    """Return the program's output between its two marks."""
    return output.partition(BEGIN)[2].partition(END)[0]


class CommandLine:
    """`hawse attach`, in a separate terminal."""

    def __init__(self, stack: Stack) -> None:
        self.output = b""
        self.command = pexpect.spawn(
            sys.executable,
            ["-m", "hawse.cli", "attach", "shared"],
            env=os.environ | {"HAWSE_URL": stack.base, "HAWSE_TOKEN": stack.token},
            dimensions=(30, 120),
            timeout=TIMEOUT,
        )

    def read_to(self, mark: bytes) -> None:
        self.command.expect_exact(mark)
        self.output += self.command.before + mark

    def type(self, data: bytes) -> None:
        for start in range(0, len(data), PIECE):
            self.command.send(data[start : start + PIECE])


async def read_to(mark: bytes, terminal: hawse.Terminal) -> bytes:
    output = b""
    async for chunk in terminal:
        output += chunk
        if mark in output:
            break
    return output


def with_hawse_sync(stack: Stack, attached: Callable[[], None]) -> bytes:
    """Attach, type and read with the synchronous client; return all output."""
    output = b""
    with (
        hawse.sync.connect(stack.base, token=stack.token) as hw,
        hw.sandbox().terminals.attach("shared", since=0) as terminal,
    ):
        for chunk in terminal:
            output += chunk
            if BEGIN in output:
                break
        attached()
        data = pattern(digits)
        for start in range(0, COUNT, PIECE):
            terminal.write(data[start : start + PIECE])
        for chunk in terminal:
            output += chunk
            if END in output:
                break
    return output


async def type_with(terminal: hawse.Terminal) -> None:
    data = pattern(ascii_lowercase)
    for start in range(0, COUNT, PIECE):
        await terminal.write(data[start : start + PIECE])


@pytest_asyncio.fixture
async def shared(new_stack: Stack) -> AsyncIterator[hawse.Terminal]:
    """A terminal opened by the asynchronous client."""
    async with (
        hawse.connect(new_stack.base, token=new_stack.token) as hw,
        hw.sandbox().terminals.open("shared", argv=["sh", "-c", PROGRAM]) as terminal,
    ):
        yield terminal


async def test_nothing_is_lost_or_doubled_for_three_clients_at_one_terminal(
    new_stack: Stack, shared: hawse.Terminal
) -> None:
    loop, ready = asyncio.get_running_loop(), asyncio.Event()

    def attached() -> None:
        loop.call_soon_threadsafe(ready.set)

    command = CommandLine(new_stack)
    try:
        async with asyncio.timeout(TIMEOUT), asyncio.TaskGroup() as group:
            await asyncio.to_thread(command.read_to, BEGIN)
            synchronous = group.create_task(asyncio.to_thread(with_hawse_sync, new_stack, attached))
            output = await read_to(BEGIN, shared)
            await ready.wait()
            group.create_task(asyncio.to_thread(command.type, pattern(ascii_uppercase)))
            group.create_task(asyncio.to_thread(command.read_to, END))
            group.create_task(type_with(shared))
            reading = group.create_task(read_to(END, shared))
            await new_stack.kill()
            await new_stack.start()
        output += await reading
        copy = (new_stack.state / "sandboxes" / "local" / "workspace" / "copy").read_bytes()
        assert len(copy) == 3 * COUNT
        for alphabet in (digits, ascii_lowercase, ascii_uppercase):
            assert bytes(byte for byte in copy if byte in alphabet.encode()) == pattern(alphabet)
        assert printed(output) == copy
        assert printed(await synchronous) == copy
        assert printed(command.output) == copy
    finally:
        await asyncio.to_thread(command.command.close, force=True)
