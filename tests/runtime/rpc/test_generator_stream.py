"""A generator's items are sent as credit allows, at most one item ahead; it is closed however the call ends."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import msgspec
import pytest

from hawse.api import Nothing, Spec
from hawse.rpc.call import ServerCall
from hawse_runtime.core.tasks import Tasks
from hawse_runtime.rpc.generator_stream import GeneratorStream, StreamEvent, Work
from hawse_runtime.rpc.stream_slots import StreamSlots
from tests.support.runtime import Client, Served
from tests.support.waiting import TIMEOUT


class Anything(msgspec.Struct):
    pass


class Bench:
    """A runtime with a method `make` that serves the generator of a test."""

    def __init__(self, served: Served, client: Client, tasks: Tasks) -> None:
        self.served = served
        self.client = client
        self.make: Callable[[], Work]

        slots = StreamSlots()

        def serve(call: ServerCall, params: Anything) -> None:
            call.serve(GeneratorStream(call, self.make(), served.runtime.pools.disk, tasks, slots, offset=7))

        served.runtime.server.dispatcher.register(Spec("make", Anything, Nothing, output=("output",)), serve)


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    async with asyncio.TaskGroup() as group, Served(tmp_path) as served, served.client() as client:
        yield Bench(served, client, Tasks(group))


async def test_events_and_bytes_come_in_order_and_then_the_result(bench: Bench) -> None:
    def make() -> Work:
        yield StreamEvent("opened", {"a": 1})
        yield None
        yield b"one"
        yield b""
        yield b"two"
        yield StreamEvent("more", [threading.get_ident()])
        return {"done": True}

    bench.make = make
    call = bench.client.call("make")
    assert await call.result() == {"done": True}
    assert [event.name for event in call.events] == ["opened", "more"]
    assert call.events[1].value != [threading.get_ident()]
    assert call.output == b"onetwo"
    assert call.frames[0][1] == 7


async def test_it_is_at_most_one_item_ahead_of_a_reader_that_does_not_read(bench: Bench) -> None:
    made = []

    def make() -> Work:
        for number in range(100):
            made.append(number)
            yield bytes(1000)
        return {}

    bench.make = make
    async with bench.served.client(window=1500) as client:
        call = client.call("make", generous=False)
        await call.until(lambda: len(call.output) == 1500)
        await client.info()
        assert len(made) == 2
        call.grant(98_500)
        await call.result()
    assert len(call.output) == 100_000


async def test_the_error_of_a_generator_is_the_error_of_the_call(bench: Bench) -> None:
    def make() -> Work:
        yield b"one"
        raise FileNotFoundError(2, "gone")

    bench.make = make
    call = bench.client.call("make")
    assert (await call.refusal()).code == "not_found"
    assert call.output == b"one"


@pytest.mark.parametrize("held", [True, False])
async def test_it_is_closed_when_nobody_is_there_any_more(bench: Bench, held: bool) -> None:
    """While it waits for credit, and while it works."""
    closed, at_work = threading.Event(), threading.Event()
    go_on = threading.Event()

    def make() -> Work:
        try:
            yield b"x" * 10
            at_work.set()
            if not held:
                go_on.wait(20)
            yield b"y" * 10
        finally:
            closed.set()

    bench.make = make
    async with bench.served.client(window=15) as client:
        call = client.call("make", generous=False)
        await asyncio.to_thread(at_work.wait, 20)
        call.cancel()
        await call.refusal()
        assert not closed.is_set() or held
        go_on.set()
        assert await asyncio.to_thread(closed.wait, TIMEOUT)


async def test_it_takes_no_input(bench: Bench) -> None:
    def make() -> Work:
        yield b"x" * 100
        return {}

    bench.make = make
    async with bench.served.client(window=10) as client:
        call = client.call("make", generous=False)
        call.send(b"x")
        assert (await call.refusal()).code == "protocol_error"
