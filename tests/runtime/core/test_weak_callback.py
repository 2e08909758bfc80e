"""Weak callbacks do not keep their object alive; ended terminals and commands are freed without a collection."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from hawse_runtime.core.registry import Retention
from hawse_runtime.core.weak_callback import WeakCallback
from hawse_runtime.journal.journal import Journal
from hawse_runtime.terminal.terminal import Terminal
from tests.support.runtime import Client, Served, eventually
from tests.support.sessions import run


class Bell:
    def __init__(self) -> None:
        self.rung: list[str] = []

    def ring(self, by: str, *, times: int = 1) -> int:
        self.rung += [by] * times
        return len(self.rung)


def test_a_call_reaches_the_object_while_it_is_referenced() -> None:
    bell = Bell()
    ring = WeakCallback(bell.ring)
    assert ring("a") == 1
    assert ring("b", times=2) == 3
    assert bell.rung == ["a", "b", "b"]


def test_it_keeps_no_reference_and_returns_the_default_after_the_object_is_freed() -> None:
    bell = Bell()
    ring, seen = WeakCallback(bell.ring, default=7), weakref.ref(bell)
    del bell
    assert seen() is None
    assert ring("a") == 7


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Disables the garbage collector."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def living(kind: type) -> int:
    return sum(isinstance(thing, kind) for thing in gc.get_objects())


@pytest.mark.usefixtures("no_collector")
async def test_dropped_terminals_are_freed_without_a_collection(client: Client, served: Served) -> None:
    served.runtime.terminals.registry.retention = Retention(count=2)
    before = living(Terminal), living(Journal)
    for number in range(8):
        shell = await client.terminal("printf '\\033[6n\\033]133;A\\a'; read -r line; exit 1", f"t{number}")
        await client.ask("recording.start", terminal=f"t{number}")
        shell.send(b"\n")
        await shell.result()
    # Recordings end in threads, and nothing reports that the last of them is freed.
    await eventually(lambda: (living(Terminal) - before[0], living(Journal) - before[1]) == (2, 2))


@pytest.mark.usefixtures("no_collector")
async def test_ended_commands_are_freed_without_a_collection(client: Client) -> None:
    await client.ask("session.create", id="s")
    before = living(Journal)
    for _ in range(4):
        await client.execute("head -c 300000 /dev/zero; exit 1").result()
        await run(client, "echo")
    assert living(Journal) == before
