"""The screen process from the runtime's side: started when needed, restarted after a crash, bounded."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from hawse_runtime.code.host_protocol import OWN_PYTHON
from hawse_runtime.screen.requests import Answer, AnyRequest, Feed, Open, Text
from hawse_runtime.screen.screen_process import IN_FLIGHT, ScreenLimits, ScreenProcess
from tests.support.runtime import eventually
from tests.support.waiting import Changes

Make = Callable[..., ScreenProcess]


class Client:
    """A `ScreenClient` that notes what it is called with."""

    def __init__(self, screens: ScreenProcess) -> None:
        self.screens = screens
        self.answers: list[Answer] = []
        self.faults: list[bool] = []
        self.proceeded = 0
        self.changes = Changes()
        self.number = screens.new_number()

    def proceed(self) -> None:
        self.proceeded += 1
        self.changes.notify()

    def lost(self, *, at_fault: bool) -> None:
        self.faults.append(at_fault)
        self.changes.notify()

    def send(self, request: AnyRequest) -> None:
        assert self.screens.take_turn(self)
        self.screens.send(self, request, self._answered)

    def _answered(self, answer: Answer) -> None:
        self.answers.append(answer)
        self.changes.notify()

    async def text(self) -> bytes:
        """Open the screen, print, and return what it shows."""
        count = len(self.answers) + 3
        for request in (Open(self.number, 20, 3), Feed(self.number, b"hello"), Text(self.number)):
            self.send(request)
        await self.changes.until(lambda: len(self.answers) == count)
        return self.answers[-1].data.strip()


@pytest.fixture
async def make() -> AsyncIterator[Make]:
    made: list[ScreenProcess] = []

    def make(python: tuple[str, ...] = OWN_PYTHON, **limits: float) -> ScreenProcess:
        made.append(ScreenProcess(python, ScreenLimits(**limits)))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for one in made:
        await one.close()
        assert one.pid is None


async def test_it_is_started_by_the_first_request(make: Make) -> None:
    screens = make()
    assert screens.pid is None
    client = Client(screens)
    assert await client.text() == b"hello"
    first = screens.pid
    assert await client.text() == b"hello"
    assert screens.pid == first is not None


async def test_after_a_crash_another_process_is_started(make: Make) -> None:
    screens = make()
    idle, client = Client(screens), Client(screens)
    await idle.text()
    await client.text()
    for signum in (signal.SIGSEGV, signal.SIGKILL):
        assert screens.pid is not None
        os.kill(screens.pid, signal.SIGSTOP)
        client.send(Text(client.number))
        idle.send(Text(idle.number))
        os.kill(screens.pid, signum)
        os.kill(screens.pid, signal.SIGCONT)
        await client.changes.until(lambda: client.proceeded)
        assert (client.faults.pop(), idle.faults.pop()) == (True, False)
        client.proceeded = 0
        assert await client.text() == b"hello"


async def test_what_was_answered_before_a_crash_is_not_lost(make: Make) -> None:
    screens = make()
    client = Client(screens)
    await client.text()
    assert screens.pid is not None
    client.send(Feed(client.number, b"\x1b[6n", answers=True))
    await asyncio.to_thread(end_when_idle, screens.pid)
    await client.changes.until(lambda: client.faults)
    assert client.faults == [len(client.answers) == 3], "it has no answer, or is not at fault"


def end_when_idle(pid: int) -> None:
    """Kill a process when it waits for requests."""
    while "S (sleeping)" not in Path(f"/proc/{pid}/status").read_text():
        pass
    os.kill(pid, signal.SIGKILL)


async def test_turns_are_bounded_and_passed_on_in_order(make: Make) -> None:
    screens = make()
    first, second, third = Client(screens), Client(screens), Client(screens)
    first.send(Open(first.number, 20, 3))
    for _ in range(IN_FLIGHT - 1):
        first.send(Text(first.number))
    assert not screens.take_turn(second)
    assert not screens.take_turn(third)
    screens.leave(second)
    await third.changes.until(lambda: third.proceeded)
    assert second.proceeded == 0


async def test_after_too_many_crashes_none_is_started_for_a_while(make: Make) -> None:
    screens = make(restarts=2)
    client = Client(screens)
    for crashes in (1, 2):
        await client.text()
        assert screens.pid is not None
        os.kill(screens.pid, signal.SIGKILL)
        await client.changes.until(lambda crashes=crashes: len(client.faults) == crashes)  # type: ignore[misc]
    assert not screens.available
    assert not screens.take_turn(client)
    screens.limits = ScreenLimits(restarts=2, window=0.0)
    assert screens.available
    assert await client.text() == b"hello"


async def test_a_process_that_cannot_be_started_counts_as_a_crash(make: Make) -> None:
    screens = make(("/nothing/there",), restarts=1)
    client = Client(screens)
    client.send(Open(client.number, 20, 3))
    assert not screens.take_turn(client)
    await client.changes.until(lambda: client.proceeded)
    assert client.faults == [False]
    assert not screens.available


async def test_a_process_that_does_not_answer_is_killed(make: Make) -> None:
    screens = make()
    screens.warm_up()
    assert screens.pid is not None
    os.kill(screens.pid, signal.SIGSTOP)
    screens.limits = ScreenLimits(hang=0.05)
    client = Client(screens)
    client.send(Text(client.number))
    await client.changes.until(lambda: client.faults)
    screens.limits = ScreenLimits()
    assert await client.text() == b"hello"


PRINTS_NONSENSE = "import os, time; os.write(3, bytes.fromhex('00000001c1')); time.sleep(60)"


async def test_a_process_that_violates_the_protocol_is_killed(make: Make, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text(f'#!/bin/sh\nexec {OWN_PYTHON[0]} -c "{PRINTS_NONSENSE}"\n')
    program.chmod(0o755)
    screens = make((str(program),), restarts=1)
    client = Client(screens)
    client.send(Open(client.number, 20, 3))
    await client.changes.until(lambda: client.faults)
    assert client.answers == []


async def test_it_is_started_some_time_after_the_first_viewer(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hawse_runtime.screen.screen_process.WARM_DELAY", 0.0)
    screens = make()
    screens.warm_soon()
    screens.warm_soon()
    assert screens.pid is None
    await eventually(lambda: screens.pid is not None)
    client = Client(screens)
    assert await client.text() == b"hello"
