"""The answer to a secret question remains nowhere: in no file, and in no memory of the gateway and the runtime.

The program that reads the secret, and the kernel, are not searched.
"""

import asyncio
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

import hawse
from hawse.api.terminals import RecordOptions
from hawse.client import Sandbox
from tests.support.stack import Stack

# Reads a password, forgets it, and stays.
PROGRAM = """
import getpass, time
print(len(getpass.getpass("Password: ")), "characters", flush=True)
time.sleep(3600)
"""
REASON = "a reason that stays in memory 5d1c7"
SECRET = "correct-horse-7f3b9e"
FORMS = (SECRET.encode(), SECRET.encode("utf-16-le"), SECRET.encode("utf-32-le"), SECRET.encode()[::-1])
PIECE = 1 << 20


def memory(pid: int) -> Iterator[bytes]:
    """Yield the readable memory of a process, in pieces."""
    maps = Path(f"/proc/{pid}/maps").read_text().splitlines()
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as mem:
        for line in maps:
            found = re.match(r"([0-9a-f]+)-([0-9a-f]+) r\S+ \S+ \S+ \S+ *(.*)", line)
            if found is None or found[3] in ("[vvar]", "[vsyscall]"):
                continue
            at, end = int(found[1], 16), int(found[2], 16)
            with suppress(OSError, ValueError):  # a mapping of a device, or one that is gone
                mem.seek(at)
                while at < end and (data := mem.read(min(PIECE, end - at))):
                    yield data
                    at += len(data)


def in_memory(pid: int, forms: tuple[bytes, ...]) -> bool:
    """Return whether a process's memory contains one of the texts. They are shorter than the overlap of two pieces."""
    last = b""
    for piece in memory(pid):
        if any(form in last + piece for form in forms):
            return True
        last = piece[-200:]
    return False


def files_with(folder: Path, forms: tuple[bytes, ...]) -> list[Path]:
    regular = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return [path for path in regular if any(form in path.read_bytes() for form in forms)]


async def answered(box: Sandbox, *, sealed: bool) -> None:
    """Have a program ask for a password, and answer it."""
    async with box.terminals.open("main", argv=["python3", "-c", PROGRAM], record=RecordOptions(input=True)) as term:
        async with box.questions.watch() as watch:
            async for questions in watch:
                if questions:
                    break
        question = await box.questions.ask("main", REASON, kind="secret")
        if sealed:
            await box.questions.answer(question, SECRET)
        else:
            await term.send(SECRET, keys=["enter"])
        await term.expect(f"{len(SECRET)} characters", since=0)


async def stopped(box: Sandbox) -> None:
    """End the recording, so that its file is complete."""
    (recording,) = await box.recordings.list()
    await box.recordings.attach(recording.id).stop()


async def processes(stack: Stack, box: Sandbox) -> list[int]:
    """Return the processes of the gateway and the runtime, without the terminals' programs."""
    runtime = (await box.runtime()).pid
    programs = {term.pid for term in await box.terminals.list()}
    own = [each.pid for each in psutil.Process(runtime).children() if each.pid not in programs]
    return [stack.pid, runtime, *own]


async def test_a_secret_remains_in_no_file_and_in_no_memory(new_stack: Stack) -> None:
    async with hawse.connect(new_stack.base, token=new_stack.token) as hw:
        box = hw.sandbox()
        await answered(box, sealed=True)
        pids = await processes(new_stack, box)
        assert len(pids) >= 2
        searched = await asyncio.gather(*(asyncio.to_thread(in_memory, pid, FORMS) for pid in pids))
        assert searched == [False] * len(pids)
        assert await asyncio.to_thread(in_memory, pids[1], (REASON.encode(),))  # the search does find text
        await stopped(box)
    marked = files_with(new_stack.state, (b"a secret was typed",))
    assert len([path for path in marked if path.suffix == ".cast"]) == 1
    assert files_with(new_stack.state, FORMS) == []
    assert not any(SECRET in line for line in new_stack.printed)


async def test_a_password_that_is_typed_as_text_does_remain(new_stack: Stack) -> None:
    """Shows that the other test searches in the right places."""
    async with hawse.connect(new_stack.base, token=new_stack.token) as hw:
        box = hw.sandbox()
        await answered(box, sealed=False)
        pids = await processes(new_stack, box)
        assert any(await asyncio.gather(*(asyncio.to_thread(in_memory, pid, FORMS) for pid in pids)))
        await stopped(box)
    assert files_with(new_stack.state, FORMS)  # the recording of the input
