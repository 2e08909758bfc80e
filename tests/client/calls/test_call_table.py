"""The table of calls: waiting and open ones, when connections are established and lost."""

import asyncio

import pytest

from hawse.api.processes import ProcessGet
from hawse.api.sandboxes import SandboxCreate, SandboxDelete, SandboxInfo
from hawse.client.base.errors import ClientClosedError, GaveUpError
from hawse.client.base.options import Options
from hawse.client.calls.call import ClientCall
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.input_stream import InputStream
from hawse.wire import Cancel, HawseError, Limits, RemoteProtocolError
from hawse.wire.errors import Admitted
from tests.support.client import MemoryConnection

OPTIONS = Options(dice=lambda: 0.0)


async def pauses_over() -> None:
    """Wait until the pauses of 0 s that have begun are over: a timer that starts now fires after theirs."""
    over = asyncio.Event()
    asyncio.get_running_loop().call_later(0, over.set)
    await over.wait()


def code_of(call: ClientCall) -> tuple[str, str]:
    error = call.done.exception()
    assert isinstance(error, HawseError)
    return error.code, error.admitted


async def test_a_call_goes_out_at_once_and_gets_its_answer() -> None:
    calls = CallTable(OPTIONS)
    connection = MemoryConnection(calls)
    call = ClientCall("echo", {"a": 1}, sandbox="local", timeout=5)
    calls.submit(call)
    assert (connection.call.method, connection.call.sandbox, connection.call.timeout, connection.params) == (
        "echo",
        "local",
        5,
        {"a": 1},
    )
    connection.result([7])
    assert call.done.result() == [7]
    assert len(calls) == 0


async def test_calls_without_a_connection_wait_for_one_in_order() -> None:
    calls = CallTable(OPTIONS)
    for name in "abc":
        calls.submit(ClientCall(name))
    assert [call.method for call in MemoryConnection(calls).calls] == ["a", "b", "c"]


async def test_a_call_that_was_never_sent_does_not_wait_for_ever() -> None:
    calls = CallTable(Options(connect_timeout=0.001))
    with pytest.raises(GaveUpError) as caught:
        await calls.perform(ClientCall("x"))
    assert (caught.value.code, caught.value.admitted) == ("unavailable", "no")
    assert len(calls) == 0


async def test_a_lost_connection_ends_calls_that_cannot_be_repeated_with_admitted_unknown() -> None:
    calls = CallTable(OPTIONS)
    connection = MemoryConnection(calls)
    call = ClientCall("x")
    calls.submit(call)
    connection.pump()
    calls.disconnected()
    assert code_of(call) == ("interrupted", "unknown")


async def test_after_a_lost_connection_repeated_calls_are_sent_first_with_their_keys() -> None:
    calls = CallTable(OPTIONS)
    MemoryConnection(calls)
    keyed = [ClientCall("a", key="1"), ClientCall("b", key="2")]
    for call in keyed:
        calls.submit(call)
    calls.disconnected()
    calls.submit(ClientCall("new"))
    connection = MemoryConnection(calls)
    assert [(call.method, call.key) for call in connection.calls] == [("a", "1"), ("b", "2"), ("new", None)]


async def test_a_draining_connection_ends_open_calls_and_takes_no_new_ones() -> None:
    calls = CallTable(OPTIONS)
    old = MemoryConnection(calls)
    first, second = ClientCall("first"), ClientCall("second")
    calls.submit(first)
    old.pump()
    calls.draining()
    calls.submit(second)
    old.result(1)
    assert first.done.result() == 1
    calls.disconnected()
    new = MemoryConnection(calls)
    assert [call.method for call in new.calls] == ["second"]


@pytest.mark.parametrize("code", ["interrupted", "unavailable"])
async def test_what_repeats_comes_back_from_a_sandbox_that_was_away(code: str) -> None:
    calls = CallTable(OPTIONS)
    connection = MemoryConnection(calls)
    call = ClientCall("x", key="k")
    calls.submit(call)
    connection.error(HawseError(code))
    await connection.until_called(2)
    assert len(connection.calls) == 2
    connection.result("here")
    assert call.done.result() == "here"
    assert len(calls) == 0


async def test_what_would_fail_again_is_not_repeated() -> None:
    calls = CallTable(OPTIONS)
    connection = MemoryConnection(calls)
    call = ClientCall("x", key="k")
    calls.submit(call)
    connection.error(HawseError("unavailable", retryable=False))
    assert code_of(call) == ("unavailable", "no")
    assert len(calls) == 0


async def test_a_pause_outlives_the_connection() -> None:
    calls = CallTable(OPTIONS)
    connection = MemoryConnection(calls)
    calls.submit(ClientCall("x", key="k"))
    connection.error(HawseError("unavailable"))
    calls.disconnected()
    await pauses_over()
    assert len(MemoryConnection(calls).calls) == 1


async def test_a_sandbox_that_stays_away_is_given_up() -> None:
    now = [0.0]
    calls = CallTable(Options(dice=lambda: 0.0, clock=lambda: now[0]))
    connection = MemoryConnection(calls)
    call = ClientCall("x", key="k")
    calls.submit(call)
    connection.error(HawseError("unavailable"))
    await connection.until_called(2)
    now[0] = 31
    connection.error(HawseError("unavailable"))
    assert code_of(call) == ("unavailable", "no")
    assert len(calls) == 0


@pytest.mark.parametrize(("key", "code"), [(None, "unavailable"), ("k", "not_found"), ("k", "limit_exceeded")])
async def test_other_errors_are_the_callers(key: str | None, code: str) -> None:
    calls = CallTable(OPTIONS)
    connection = MemoryConnection(calls)
    call = ClientCall("x", key=key)
    calls.submit(call)
    connection.error(HawseError(code))
    assert code_of(call)[0] == code


async def test_calls_beyond_the_channel_limit_wait_for_a_channel_to_close() -> None:
    calls = CallTable(OPTIONS)
    connection = MemoryConnection(calls, Limits(channels=2))
    pending = [ClientCall("x", {"n": n}) for n in range(3)]
    for call in pending:
        calls.submit(call)
    assert len(connection.calls) == 2
    connection.result()
    assert len(connection.calls) == 3


async def test_a_cancelled_caller_leaves_nothing_behind() -> None:
    calls = CallTable(OPTIONS)
    connection = MemoryConnection(calls)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(calls.perform(ClientCall("never", window=10)))
        await connection.until_called()
        task.cancel()
    assert len(connection.of(Cancel)) == 1
    assert len(calls) == 0
    connection.event("late", {})  # was on its way
    connection.error(HawseError("cancelled"))
    assert connection.protocol.channels == {}


async def test_a_caller_that_is_cancelled_before_its_call_went_out_sends_nothing() -> None:
    calls = CallTable(OPTIONS)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await calls.perform(ClientCall("x"))
    assert MemoryConnection(calls).calls == []


async def test_a_caller_that_gives_up_a_pause_is_not_tried_again() -> None:
    calls = CallTable(OPTIONS)
    connection = MemoryConnection(calls)
    call = ClientCall("x", key="k")
    calls.submit(call)
    connection.error(HawseError("unavailable"))
    calls.abandon(call)
    await pauses_over()
    assert len(connection.calls) == 1


async def test_a_deadline_holds_without_a_server_that_keeps_it() -> None:
    calls = CallTable(OPTIONS)
    connection = MemoryConnection(calls)
    with pytest.raises(HawseError) as caught:
        await calls.perform(ClientCall("never", timeout=0.001))
    assert (caught.value.code, caught.value.admitted) == ("deadline_exceeded", "unknown")
    assert len(connection.of(Cancel)) == 1


async def test_closing_settles_all_calls_and_sets_admitted() -> None:
    calls = CallTable(OPTIONS)
    connection = MemoryConnection(calls)
    sent, paused = ClientCall("a", key="1"), ClientCall("b", key="2")
    calls.submit(paused)
    connection.error(HawseError("unavailable"))
    calls.submit(sent)
    calls.draining()
    waiting = ClientCall("c")
    calls.submit(waiting)
    calls.close(ClientClosedError())
    assert [code_of(call) for call in (sent, paused, waiting)] == [
        ("cancelled", "unknown"),
        ("cancelled", "unknown"),
        ("cancelled", "no"),
    ]
    assert len(calls) == 0
    with pytest.raises(ClientClosedError):
        calls.submit(ClientCall("late"))
    calls.post(ClientCall("later"))


@pytest.mark.parametrize(
    ("params", "code"),
    [({"a": object()}, "invalid_params"), ({"a": "\ud800"}, "invalid_params"), ({"a": "x" * (1 << 20)}, "too_large")],
)
async def test_what_cannot_be_sent_fails_alone(params: dict[str, object], code: str) -> None:
    calls = CallTable(OPTIONS)
    connection = MemoryConnection(calls)
    bad, good = ClientCall("bad", params), ClientCall("good")
    calls.submit(bad)
    calls.submit(good)
    assert code_of(bad) == (code, "no")
    assert [call.method for call in connection.calls] == ["good"]


async def test_the_error_of_text_that_is_not_unicode_names_the_character() -> None:
    calls = CallTable(OPTIONS)
    MemoryConnection(calls)
    with pytest.raises(HawseError, match=r"has '\\udcff', a surrogate"):
        await calls.perform(ClientCall("bad", {"argv": ["a\udcff"]}))


async def test_an_error_in_a_stream_ends_that_stream_alone() -> None:
    class Strict(ClientCall):
        def receive_event(self, event: object) -> None:
            raise HawseError("conflict")

    calls = CallTable(OPTIONS)
    connection = MemoryConnection(calls)
    strict = Strict("x", window=10)
    calls.submit(strict)
    connection.event("odd")
    assert code_of(strict)[0] == "conflict"
    assert len(connection.of(Cancel)) == 1


async def test_credit_for_bytes_never_sent_is_the_servers_error() -> None:
    calls = CallTable(OPTIONS)
    connection = MemoryConnection(calls)
    call = ClientCall("x")
    call.input_stream = InputStream(10, call.wake)
    calls.submit(call)
    connection.server.grant(connection.call.ch, 5)
    with pytest.raises(RemoteProtocolError):
        connection.pump()


async def test_a_repeat_with_a_key_has_the_age_of_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("hawse.client.calls.call_table.boot_time", lambda: now)
    calls = CallTable(OPTIONS)
    connection = MemoryConnection(calls)
    call = ClientCall("a", key="1")
    calls.submit(call)
    connection.pump()
    calls.disconnected()
    now = 1042.5
    again = MemoryConnection(calls)
    assert [sent.age for sent in (*connection.calls, *again.calls)] == [None, 42.5]
    calls.abandon(call)


async def test_a_request_ends_with_the_request_timeout() -> None:
    calls = CallTable(Options(request_timeout=0.01))
    connection = MemoryConnection(calls)
    with pytest.raises(HawseError, match=r"deadline_exceeded: process.get: no result within 0.01 s"):
        await calls.request(ProcessGet(id="p"), sandbox="local")
    assert connection.call.timeout == 0.01


async def test_closing_waits_for_posted_calls_only_while_there_is_a_connection() -> None:
    calls = CallTable(Options())
    connection = MemoryConnection(calls)
    calls.post(ClientCall("x", key="k"))
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(calls.settle_posted(60))
        await connection.until_called()
        assert not waiting.done()
        connection.result({})
    calls.post(ClientCall("y", key="l"))
    calls.disconnected()
    await calls.settle_posted(60)


async def test_what_a_cancelled_call_may_have_done_is_undone_when_it_has_ended() -> None:
    calls = CallTable(OPTIONS)
    connection = MemoryConnection(calls)
    creating = asyncio.ensure_future(calls.request(SandboxCreate(id="a"), sandbox=None, undo=SandboxDelete(id="a")))
    await connection.until_called(1)
    creating.cancel()
    with pytest.raises(asyncio.CancelledError):
        await creating
    assert [call.method for call in connection.calls] == ["sandbox.create"], "it has not ended"
    connection.result(SandboxInfo(id="a", state="running"))
    await connection.until_called(2)
    assert (connection.call.method, connection.params) == ("sandbox.delete", {"id": "a"})


@pytest.mark.parametrize(("admitted", "undone"), [("unknown", True), ("yes", True), ("no", False)])
async def test_what_a_failed_call_may_have_done_is_undone(admitted: Admitted, undone: bool) -> None:
    calls = CallTable(OPTIONS)
    connection = MemoryConnection(calls)
    creating = asyncio.ensure_future(calls.request(SandboxCreate(id="a"), sandbox=None, undo=SandboxDelete(id="a")))
    await connection.until_called(1)
    connection.error(HawseError("outcome_unknown", admitted=admitted))
    with pytest.raises(HawseError, match="outcome_unknown"):
        await creating
    await pauses_over()
    assert ("sandbox.delete" in [call.method for call in connection.calls]) is undone


async def test_what_was_never_sent_is_not_undone() -> None:
    calls = CallTable(OPTIONS)
    creating = asyncio.ensure_future(calls.request(SandboxCreate(id="a"), sandbox=None, undo=SandboxDelete(id="a")))
    await pauses_over()
    creating.cancel()
    with pytest.raises(asyncio.CancelledError):
        await creating
    assert len(calls) == 0
