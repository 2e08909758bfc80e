"""A gateway reads the refusals and counters of proxies."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import msgspec
import pytest

from hawse.api.egress import EgressRefusal
from hawse_gateway.egress.follower import ANSWER_MAX, EgressFollower
from hawse_gateway.egress.refusals import Ask, Refusals
from tests.support.gateway import eventually


class Control:
    """The control socket of a proxy."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.refusals = Refusals()
        self.asked: list[int] = []

    async def start(self) -> None:
        self.path.unlink(missing_ok=True)
        self.server = await asyncio.start_unix_server(self._serve, str(self.path))
        self._writers: list[asyncio.StreamWriter] = []

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        refusals = self.refusals
        with suppress(ConnectionError):
            while line := await reader.readline():
                ask = msgspec.json.decode(line, type=Ask)
                self.asked.append(ask.written)
                writer.write(msgspec.json.encode(await refusals.answer(ask, 0.05)) + b"\n")
        writer.close()

    def close(self) -> None:
        self.server.close()
        for writer in self._writers:
            writer.transport.abort()


@pytest.fixture
async def control(tmp_path: Path) -> AsyncIterator[Control]:
    made = Control(tmp_path / "c.sock")
    await made.start()
    yield made
    made.close()


@asynccontextmanager
async def following(*controls: Control) -> AsyncIterator[tuple[EgressFollower, list[tuple[str, str]]]]:
    seen: list[tuple[str, str]] = []

    async def note(unit: str, refusal: EgressRefusal) -> None:
        seen.append((unit, refusal.host))

    follower = EgressFollower(lambda: {each.path.stem: each.path for each in controls}, on_refusal=note, poll=0.01)
    task = asyncio.create_task(follower.run())
    try:
        yield follower, seen
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_each_refusal_is_passed_on_once(control: Control) -> None:
    control.refusals.add("rule", "a.test")
    async with following(control) as (_, seen):
        await eventually(lambda: seen == [("c", "a.test")])
        control.refusals.add("rule", "b.test")
        await eventually(lambda: len(seen) == 2)
        await eventually(lambda: control.asked[-1] == 2)
    control.refusals.add("rule", "while there is no gateway.test")
    async with following(control) as (_, seen):
        await eventually(lambda: seen == [("c", "while there is no gateway.test")])


async def test_a_replaced_proxy_is_followed_again_and_counters_continue(control: Control) -> None:
    control.refusals.counters.requests = 5
    control.refusals.add("rule", "a.test")
    async with following(control) as (follower, seen):
        await eventually(lambda: len(seen) == 1)
        control.close()
        await eventually(lambda: follower.totals().requests == 5)
        control.refusals = Refusals()
        control.refusals.counters.requests = 2
        control.refusals.add("rule", "b.test")
        await control.start()
        await eventually(lambda: len(seen) == 2)
        totals = follower.totals()
        assert (totals.requests, totals.refused, follower.lost) == (7, 2, 0)
        assert totals.cpu > 0
        assert totals.memory > 1 << 20


@pytest.mark.parametrize("noise", [b"nonsense\n", b"x" * (ANSWER_MAX + 100_000)])
async def test_nonsense_of_a_proxy_is_logged_and_tried_again(
    noise: bytes, caplog: pytest.LogCaptureFixture, control: Control
) -> None:
    async def nonsense(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(noise)
        await reader.read()
        writer.close()

    control.close()
    control.path.unlink(missing_ok=True)
    server = await asyncio.start_unix_server(nonsense, str(control.path))
    async with following(control):
        await eventually(lambda: caplog.text.count("the egress proxy of c") > 1)
    server.close()


async def test_a_socket_without_a_proxy_is_not_an_error(tmp_path: Path) -> None:
    looks = 0

    def sockets() -> dict[str, Path]:
        nonlocal looks
        looks += 1
        return {"a": tmp_path / "none"}

    check: Callable[[], bool] = lambda: looks > 2  # noqa: E731
    task = asyncio.create_task(EgressFollower(sockets, poll=0.01).run())
    await eventually(check)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_look_that_fails_is_tried_again(control: Control) -> None:
    looks = 0

    def sockets() -> dict[str, Path]:
        nonlocal looks
        looks += 1
        if looks < 3:
            raise OSError("too many open files")
        return {"a": control.path}

    task = asyncio.create_task(EgressFollower(sockets, poll=0.01).run())
    await eventually(lambda: bool(control.asked))
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
