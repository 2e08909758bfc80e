"""Every call gets one answer, with a code that says what was wrong and nothing of what is inside."""

import asyncio
import os
from typing import Any

import msgspec
import pytest

from hawse.api import Nothing, required
from hawse.api.rights import allows
from hawse.wire import HawseError, Principal
from runtime.rpc.dispatcher import Method, from_oserror, typed
from tests.support.runtime import Client, Served

BUGS = ["test.bug", "test.late_bug", "test.unspeakable", "test.unspeakable_later", "test.stream"]


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
    """Methods of our own in a real runtime."""

    def __init__(self, served: Served) -> None:
        self.runs = 0
        self.go = asyncio.Event()
        served.runtime.server._dispatcher.add(
            {
                "test.bug": Method(Nothing, self._bug),
                "test.late_bug": Method(Nothing, self._late_bug),
                "test.unspeakable": Method(Nothing, lambda call, p: {"value": object()}),
                "test.unspeakable_later": Method(Nothing, self._unspeakable_later),
                "test.count": Method(Nothing, self._count),
                "test.slow": Method(Nothing, self._slow),
                "test.stream": Method(Nothing, lambda call, p: call.serve(Broken()), stream=True),
                "test.deaf": Method(Nothing, lambda call, p: call.serve(Deaf()), stream=True),
                "test.huge": Method(Nothing, lambda call, p: "x" * (2 << 20)),
            }
        )

    def _bug(self, call: Any, params: Any) -> None:
        raise KeyError("a secret")

    async def _late_bug(self, call: Any, params: Any) -> None:
        await asyncio.sleep(0)
        raise KeyError("a secret")

    async def _unspeakable_later(self, call: Any, params: Any) -> Any:
        await asyncio.sleep(0)
        return object()

    def _count(self, call: Any, params: Any) -> int:
        self.runs += 1
        return self.runs

    async def _slow(self, call: Any, params: Any) -> int:
        self.runs += 1
        await self.go.wait()
        return self.runs


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


async def test_a_call_ends_at_its_deadline_and_the_work_goes_on(client: Client, bench: Bench) -> None:
    error = await client.call("test.slow", timeout=0.01).refusal()
    assert error.code == "deadline_exceeded"
    bench.go.set()
    assert await client.ask("test.count") == 2


async def test_a_stream_ends_at_its_deadline_too(client: Client) -> None:
    await client.ask("terminal.create", id="t", argv=["sleep", "60"])
    assert (await client.call("terminal.attach", {"id": "t"}, timeout=0.01).refusal()).code == "deadline_exceeded"
    assert (await client.ask("terminal.get", id="t"))["viewers"] == 0


async def test_a_cancelled_call_is_answered_once_and_its_work_goes_on(client: Client, bench: Bench) -> None:
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


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (2, "not_found"),
        (13, "permission_denied"),
        (1, "permission_denied"),
        (21, "is_directory"),
        (20, "not_directory"),
        (17, "conflict"),
        (28, "no_space"),
        (122, "no_space"),
        (5, "io_error"),
        (36, "io_error"),
    ],
)
def test_an_error_of_the_system_is_typed(number: int, code: str) -> None:
    error = typed(OSError(number, os.strerror(number)))
    assert error.code == code == from_oserror(OSError(number, "x")).code
    assert error.details == {"errno": number}
    assert error.retryable is (code == "no_space")


def test_a_typed_error_stays_as_it_is() -> None:
    error = HawseError("conflict", "x")
    assert typed(error) is error


def test_methods_say_what_they_take() -> None:
    assert msgspec.json.decode(b"{}", type=Nothing) == Nothing()


async def test_a_bug_at_the_end_of_input_ends_that_channel_alone(client: Client, bench: Bench) -> None:
    call, other = client.call("test.deaf"), client.call("test.deaf")
    call.end()
    assert (await call.refusal()).code == "internal"
    assert not other.closed


@pytest.mark.parametrize("rights", [("view",), ("preview",), ("",), ("Operate", "admin"), ()])
async def test_a_call_without_the_required_right_is_forbidden_before_its_params_are_read(
    served: Served, client: Client, rights: tuple[str, ...]
) -> None:
    caller = Principal(id="someone", name="", kind="user", rights=tuple(filter(None, rights)))
    refused = {name for name in served.runtime.server._dispatcher._methods if not allows(rights, required(name))}
    assert len(refused) > 20
    for method in refused:
        error = await client.call(method, {"cols": "no number"}, principal=caller, key="k").refusal()
        assert (method, error.code, error.admitted) == (method, "forbidden", "no")


async def test_a_call_without_a_principal_has_every_right(client: Client) -> None:
    assert (await client.call("terminal.create", {"id": "t", "argv": ["true"]}).result())["created"]
