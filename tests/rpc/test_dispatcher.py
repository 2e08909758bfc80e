"""Every call gets one answer; an error has a code and does not reveal internals."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from hawse.api import Spec
from hawse.api.files import FileChmod, FileRead
from hawse.api.rights import allows
from hawse.rpc import handles, serves
from hawse.wire import HawseError, Principal
from hawse_runtime.settings import RuntimeLimits
from tests.support.runtime import Client, Served

BUGS = ["test.bug", "test.late_bug", "test.unspeakable", "test.unspeakable_later", "test.stream"]


class Anything(msgspec.Struct):
    """Parameters that are ignored."""


class Named(msgspec.Struct):
    """Parameters with the name of the object that the method ends."""

    id: str | None = None


class Broken:
    """A stream with a bug."""

    def pull(self, connection: Any, ch: int, size: int) -> bool:
        raise KeyError("a secret")

    def receive_input(self, offset: int, payload: memoryview) -> None: ...
    def receive_end(self) -> None:
        raise KeyError("a secret")

    def detach(self) -> None: ...


class Deaf(Broken):
    """One that has it only at the end of its input."""

    def pull(self, connection: Any, ch: int, size: int) -> bool:
        return False


class Bench:
    """Test methods in a real runtime."""

    def __init__(self, served: Served) -> None:
        self.runs = 0
        self.go = asyncio.Event()
        self.began = asyncio.Event()
        self.stopped = asyncio.Event()
        handlers: dict[str, Callable[..., Any]] = {
            "test.bug": self._bug,
            "test.late_bug": self._late_bug,
            "test.unspeakable": lambda params: {"value": object()},
            "test.unspeakable_later": self._unspeakable_later,
            "test.count": self._count,
            "test.slow": self._slow,
            "test.huge": lambda params: "x" * (2 << 20),
        }
        dispatcher = served.runtime.server.dispatcher
        for name, handler in handlers.items():
            dispatcher.register(Spec(name, Anything, Any), handler)
        dispatcher.register(Spec("test.stoppable", Anything, Any), self._stoppable, stops=True)
        dispatcher.register(Spec("test.change", Named, Any, names="id"), self._end)
        dispatcher.register(Spec("test.end", Named, Any, names="id", ends=True), self._end)
        for name, stream in (("test.stream", Broken), ("test.deaf", Deaf)):
            dispatcher.register(
                Spec(name, Anything, Any, input=True), lambda call, params, stream=stream: call.serve(stream())
            )

    def _bug(self, params: Any) -> None:
        raise KeyError("a secret")

    async def _late_bug(self, params: Any) -> None:
        await asyncio.sleep(0)
        raise KeyError("a secret")

    async def _unspeakable_later(self, params: Any) -> Any:
        await asyncio.sleep(0)
        return object()

    def _count(self, params: Any) -> int:
        self.runs += 1
        return self.runs

    def _end(self, params: Named) -> None:
        self.runs += 1
        raise HawseError("not_found" if self.runs == 1 else "conflict")

    async def _slow(self, params: Any) -> int:
        self.runs += 1
        await self.go.wait()
        return self.runs

    async def _stoppable(self, params: Any) -> int:
        self.began.set()
        try:
            return await self._slow(params)
        except asyncio.CancelledError:
            self.stopped.set()
            raise


@pytest.fixture
def bench(served: Served) -> Bench:
    return Bench(served)


async def test_an_unknown_method_is_a_typed_error(client: Client) -> None:
    assert (await client.refused("no.such.method")).code == "unknown_method"


@pytest.mark.parametrize("method", BUGS)
@pytest.mark.parametrize("key", [None, "k"])
async def test_a_bug_in_a_handler_is_internal_without_details_and_hurts_nobody_else(
    client: Client, bench: Bench, caplog: pytest.LogCaptureFixture, method: str, key: str | None
) -> None:
    error = await client.refused(method, key=key)
    assert (error.code, error.admitted, error.details) == ("internal", "unknown", None)
    assert "secret" not in str(error)
    assert "failed" in caplog.text
    assert (await client.info())["terminals"] == 0


async def test_a_result_that_is_too_large_is_a_typed_error(client: Client, bench: Bench) -> None:
    assert (await client.refused("test.huge")).code == "too_large"


async def test_a_call_ends_at_its_deadline_and_its_work_continues(client: Client, bench: Bench) -> None:
    error = await client.call("test.slow", timeout=0.01).refusal()
    assert error.code == "deadline_exceeded"
    bench.go.set()
    assert await client.ask("test.count") == 2


async def test_stoppable_work_ends_with_the_call_that_waits_for_it(
    served: Served, client: Client, bench: Bench
) -> None:
    call = client.call("test.stoppable")
    await bench.began.wait()
    call.cancel()
    assert (await call.refusal()).code == "cancelled"
    await bench.stopped.wait()
    bench.stopped.clear()
    assert (await client.call("test.stoppable", timeout=0.01).refusal()).code == "deadline_exceeded"
    await bench.stopped.wait()
    bench.stopped.clear()
    bench.began.clear()
    async with served.client() as other:
        other.call("test.stoppable")
        await bench.began.wait()
    await bench.stopped.wait()


async def test_stoppable_work_with_a_key_waits_for_a_repeat_of_its_call(
    served: Served, client: Client, bench: Bench
) -> None:
    async with served.client() as other:
        other.call("test.stoppable", key="k")
        await bench.began.wait()
    repeat = client.call("test.stoppable", key="k")
    await client.info()
    bench.go.set()
    assert await repeat.result() == 1
    assert not bench.stopped.is_set()


@pytest.mark.parametrize("limits", [RuntimeLimits(stop_delay=0.05)])
async def test_stoppable_work_with_a_key_stops_when_no_call_repeats_it(client: Client, bench: Bench) -> None:
    call = client.call("test.stoppable", key="k")
    await bench.began.wait()
    call.cancel()
    await bench.stopped.wait()
    assert (await client.refused("test.stoppable", key="k")).code == "cancelled"


async def test_a_stream_ends_at_its_deadline_too(client: Client) -> None:
    await client.ask("terminal.create", id="t", argv=["sleep", "60"])
    assert (await client.call("terminal.attach", {"id": "t"}, timeout=0.01).refusal()).code == "deadline_exceeded"
    assert (await client.ask("terminal.get", id="t"))["viewers"] == 0


async def test_a_cancelled_call_is_answered_once_and_its_work_continues(client: Client, bench: Bench) -> None:
    call = client.call("test.slow")
    call.cancel()
    assert (await call.refusal()).code == "cancelled"
    bench.go.set()
    assert await client.ask("test.count") == 2


async def test_a_key_runs_once_however_often_it_is_repeated(client: Client, bench: Bench) -> None:
    calls = [client.call("test.slow", key="k") for _ in range(5)]
    bench.go.set()
    assert [await call.result() for call in calls] == [1] * 5
    assert await client.ask("test.slow", key="k") == 1
    assert bench.runs == 1


async def test_a_key_survives_the_line(served: Served, bench: Bench) -> None:
    async with served.client() as first:
        first.call("test.slow", key="k")
        await first.info()
    async with served.client() as second:
        call = second.call("test.slow", key="k")
        bench.go.set()
        assert await call.result() == 1
    assert bench.runs == 1


async def test_a_key_belongs_to_one_call_of_whatever_method(client: Client, bench: Bench) -> None:
    assert await client.ask("test.count", key="k") == 1
    assert (await client.refused("test.count", {"a": 1}, key="k")).code == "key_conflict"
    assert (await client.refused("test.slow", key="k")).code == "key_conflict"
    assert (await client.refused("exec", {"command": "true"}, key="k")).code == "key_conflict"
    assert (await client.refused("file.write", {"path": "a", "input": "i"}, key="k")).code == "key_conflict"
    assert bench.runs == 1


async def test_a_keyed_refusal_that_began_nothing_may_be_tried_again(client: Client) -> None:
    assert (await client.refused("terminal.create", {"id": "t", "cwd": "d"}, key="k")).code == "spawn_failed"
    await client.execute("mkdir d").result()
    created = await client.ask("terminal.create", {"id": "t", "cwd": "d"}, key="k")
    assert created["created"] is True


async def test_input_for_a_call_that_takes_none_ends_it(client: Client, bench: Bench) -> None:
    call = client.call("test.slow")
    call.send(b"hello")
    assert (await call.refusal()).code == "protocol_error"
    bench.go.set()


def test_a_stream_is_served_and_any_other_method_is_handled() -> None:
    with pytest.raises(ValueError, match=r"file\.chmod is not a stream"):
        serves(FileChmod)
    with pytest.raises(ValueError, match=r"file\.read is a stream"):
        handles(FileRead)


async def test_a_bug_at_the_end_of_input_ends_only_that_channel(client: Client, bench: Bench) -> None:
    call, other = client.call("test.deaf"), client.call("test.deaf")
    call.end()
    assert (await call.refusal()).code == "internal"
    assert not other.closed


@pytest.mark.parametrize("rights", [("view",), ("preview",), ("",), ("Operate", "admin"), ()])
async def test_a_call_without_the_required_right_is_forbidden_before_its_params_are_read(
    served: Served, client: Client, rights: tuple[str, ...]
) -> None:
    caller = Principal(id="someone", name="", kind="user", rights=tuple(filter(None, rights)))
    methods = served.runtime.server.dispatcher.methods
    refused = {name for name, spec in methods.items() if not allows(rights, spec.requires)}
    assert len(refused) > 20
    for method in refused:
        error = await client.call(method, {"cols": "no number"}, principal=caller, key="k").refusal()
        assert (method, error.code, error.admitted) == (method, "forbidden", "no")


async def test_a_call_without_a_principal_has_every_right(client: Client) -> None:
    assert (await client.call("terminal.create", {"id": "t", "argv": ["true"]}).result())["created"]


async def test_a_repeat_that_another_server_may_have_run_is_run_again_if_it_names_what_it_changes(
    client: Client, bench: Bench
) -> None:
    async def code(method: str, params: Any, key: str) -> str:
        return (await client.call(method, params, key=key, age=1e6).refusal()).code

    assert await code("test.count", {}, "a") == "outcome_unknown"
    assert await code("test.change", {}, "b") == "outcome_unknown", "it names nothing"
    assert await code("test.change", {"id": "x"}, "c") == "not_found"
    assert bench.runs == 1


async def test_a_repeat_that_ends_something_succeeds_if_that_is_gone_already(client: Client, bench: Bench) -> None:
    assert await client.call("test.end", {"id": "x"}, key="a", age=1e6).result() == {}
    assert await client.call("test.end", {"id": "x"}, key="a", age=1e6).result() == {}, "the stored outcome"
    assert (await client.call("test.end", {"id": "x"}, key="b", age=1e6).refusal()).code == "conflict"
    bench.runs = 0
    assert (await client.refused("test.end", {"id": "x"}, key="c")).code == "not_found", "it is no repeat"
