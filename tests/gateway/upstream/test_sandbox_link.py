import asyncio
import gc
import weakref

import pytest

from hawse.wire import HawseError
from hawse.wire.messages import CHANNEL_MAX
from hawse_gateway.connection.channel_bridge import ChannelBridge
from hawse_gateway.connection.credit_budget import CreditBudget
from hawse_gateway.upstream import sandbox_link
from hawse_gateway.upstream.links import Links
from hawse_gateway.upstream.sandbox_link import SandboxLink
from tests.support.gateway import FakeRuntime, FakeSandboxes, Gateway, RawSocket
from tests.support.pairs import FakeHost, Pair
from tests.support.waiting import TIMEOUT, Changes


async def code_of(asked: object) -> tuple[str, str, bool]:
    with pytest.raises(HawseError) as caught:
        await asked  # type: ignore[misc]
    return caught.value.code, caught.value.admitted, caught.value.retryable


async def test_a_link_is_opened_by_the_first_call(gateway: Gateway, runtime: FakeRuntime) -> None:
    async with gateway.peer() as peer:
        await peer.ask("sandbox.list", sandbox=None)
        assert not runtime.links
        await peer.ask("answer")
        assert len(runtime.links) == 1


async def test_calls_on_a_lost_link_are_interrupted_and_the_next_call_opens_a_new_link(
    gateway: Gateway, runtime: FakeRuntime
) -> None:
    async with gateway.peer() as peer, gateway.peer() as other:
        hanging = [await peer.call("hang"), await peer.call("hang"), await other.call("hang")]
        await runtime.until(lambda: len(runtime.seen) == 3)
        runtime.links[0].abort()
        for client, ch in ((peer, hanging[0]), (peer, hanging[1]), (other, hanging[2])):
            assert await code_of(client.result(ch)) == ("interrupted", "unknown", True)
        assert await peer.ask("answer", {"a": 1}) == {"a": 1}
        assert gateway.sandboxes.starts == 2


async def test_data_received_before_the_link_is_lost_is_delivered_before_the_error(
    gateway: Gateway, runtime: FakeRuntime
) -> None:
    async with gateway.peer(window=1 << 20) as peer:
        ch = await peer.call("flood", {"bytes": 2 << 20})  # half of it is granted
        await runtime.until(lambda: runtime.granted.get(1) == 1 << 20)
        received = 0
        while received < 1 << 20:
            received += len((await peer.receive()).payload)
        runtime.links[0].abort()
        assert await code_of(peer.result(ch)) == ("interrupted", "unknown", True)


async def test_calls_that_wait_for_a_sandbox_are_sent_with_their_input_when_it_is_ready(
    gateway: Gateway, runtime: FakeRuntime
) -> None:
    gateway.sandboxes.hold = asyncio.Event()
    async with gateway.peer() as peer:
        ch = await peer.call("echo")
        await peer.send(ch, 0, b"early")
        peer.connection.end(ch)
        peer.connection.ping(1.0)
        await peer.flush()
        await peer.receive()  # the pong: all of it has arrived
        assert not runtime.seen
        gateway.sandboxes.hold.set()
        assert await peer.result(ch) == {"bytes": 5}


async def test_a_call_cancelled_while_it_waits_is_not_sent(gateway: Gateway, runtime: FakeRuntime) -> None:
    gateway.sandboxes.hold = asyncio.Event()
    async with gateway.peer() as peer:
        ch = await peer.call("echo")
        peer.connection.cancel(ch)
        await peer.flush()
        assert await code_of(peer.result(ch)) == ("cancelled", "no", False)
        gateway.sandboxes.hold.set()
        await peer.ask("answer")
    assert [call.method for call in runtime.seen] == ["answer"]


async def test_a_call_whose_timeout_passes_while_it_waits_is_not_sent(gateway: Gateway, runtime: FakeRuntime) -> None:
    gateway.sandboxes.hold = asyncio.Event()
    async with gateway.peer() as peer:
        assert await code_of(peer.ask("echo", timeout=0.05)) == ("deadline_exceeded", "no", False)
        gateway.sandboxes.hold.set()
        await peer.ask("answer")
    assert [call.method for call in runtime.seen] == ["answer"]


async def test_a_call_ends_at_its_deadline_if_the_runtime_hangs(
    gateway: Gateway, runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox_link, "OVERDUE", 0.01)
    async with gateway.peer() as peer:
        await peer.ask("answer")  # the link is open: the call does not wait for it
        assert await code_of(peer.ask("deaf", timeout=0.01)) == ("deadline_exceeded", "unknown", False)
        await runtime.until(lambda: runtime.cancelled == [2])
        assert await peer.ask("answer", {"a": 1}, timeout=5) == {"a": 1}


async def test_waiting_calls_of_a_disconnected_client_are_not_sent(gateway: Gateway, runtime: FakeRuntime) -> None:
    gateway.sandboxes.hold = asyncio.Event()
    async with gateway.peer() as peer:
        await peer.call("echo")
        await gateway.sandboxes.until(lambda: gateway.sandboxes.starts)
    await gateway.until_clients_closed()
    gateway.sandboxes.hold.set()
    async with gateway.peer() as peer:
        await peer.ask("answer")
    assert [call.method for call in runtime.seen] == ["answer"]


async def test_a_sandbox_that_cannot_be_started_is_unavailable_and_the_next_call_retries(gateway: Gateway) -> None:
    gateway.sandboxes.error = HawseError("unavailable", "no disk")
    async with gateway.peer() as peer:
        assert await code_of(peer.ask("answer")) == ("unavailable", "no", True)
        gateway.sandboxes.error = None
        await peer.ask("answer")


async def test_a_call_waits_for_a_briefly_unreachable_runtime(gateway: Gateway, runtime: FakeRuntime) -> None:
    await runtime.stop()
    async with gateway.peer() as peer:
        ch = await peer.call("answer", {"a": 1})
        await gateway.sandboxes.until(lambda: gateway.sandboxes.starts == 2)
        await runtime.start()
        assert await peer.result(ch) == {"a": 1}


async def test_a_runtime_that_stays_unreachable_is_unavailable_after_all_retries(
    gateway: Gateway, runtime: FakeRuntime
) -> None:
    await runtime.stop()
    async with gateway.peer() as peer:
        assert await code_of(peer.ask("answer")) == ("unavailable", "no", True)
    assert gateway.sandboxes.starts == 1 + len(sandbox_link.RETRY_DELAYS)
    await runtime.start()


async def test_an_unexpected_exception_of_a_provider_fails_the_calls_but_not_the_gateway(gateway: Gateway) -> None:
    gateway.sandboxes.error = KeyError("a bug")  # type: ignore[assignment]
    async with gateway.peer() as peer:
        assert await code_of(peer.ask("answer")) == ("internal", "no", False)
        gateway.sandboxes.error = None
        await peer.ask("answer")


async def test_a_runtime_that_breaks_the_protocol_loses_its_link(gateway: Gateway, runtime: FakeRuntime) -> None:
    async with gateway.peer() as peer:
        ch = await peer.call("hang")
        await runtime.until(lambda: runtime.links and runtime.links[0].connection.channels)
        runtime.links[0].transport.write(b"\0\0\0\x01\xff")
        assert await code_of(peer.result(ch)) == ("interrupted", "unknown", True)
        await peer.ask("answer")


async def test_a_goaway_of_the_runtime_ends_the_link(gateway: Gateway, runtime: FakeRuntime) -> None:
    async with gateway.peer() as peer:
        ch = await peer.call("hang")
        await runtime.until(lambda: runtime.seen)
        runtime.links[0].connection.goaway("restart", 0)
        runtime.links[0].flush()
        assert await code_of(peer.result(ch)) == ("interrupted", "unknown", True)


async def test_when_the_channel_numbers_are_used_up_there_is_a_new_link(gateway: Gateway, runtime: FakeRuntime) -> None:
    async with gateway.peer() as peer:
        await peer.ask("answer")
        link = gateway.links.get("local").link
        assert link is not None
        link.connection.last_channel = CHANNEL_MAX - 1
        assert await code_of(peer.ask("hang")) == ("interrupted", "unknown", True)
        await peer.ask("answer")
        assert runtime.seen[-1].ch == 1


async def test_a_call_opened_while_the_link_is_being_lost_uses_the_next_link(runtime: FakeRuntime) -> None:
    async with asyncio.TaskGroup() as tasks:
        link = Links(FakeSandboxes(runtime.path), tasks).get("local")

        changes = Changes()

        class Again(FakeHost):
            def release(self, ch: int) -> None:
                super().release(ch)
                changes.notify()
                if len(self.released) == 1:
                    link.open(bridges[1])

        pair = Pair(window=1000)
        host = Again(pair, CreditBudget())
        pair.client.call("hang")
        pair.client.call("answer")
        bridges = [ChannelBridge(host, call) for call in pair.to_server()]
        link.open(bridges[0])
        await runtime.until(lambda: runtime.seen)
        runtime.links[0].abort()
        await changes.until(lambda: host.released == [1, 2])
        assert [type(message).__name__ for message in host.read()] == ["Error", "Result"]
        link.stop()


async def until_lost(link: SandboxLink) -> None:
    while link.ready:
        drained = asyncio.Event()
        link.when_drained(drained.set)
        async with asyncio.timeout(TIMEOUT):
            await drained.wait()


async def test_a_stalled_client_that_disconnects_closes_no_channel_of_the_next_link(
    gateway: Gateway, runtime: FakeRuntime
) -> None:
    async with gateway.peer() as peer:
        async with RawSocket(gateway) as raw:
            await raw.hello()
            params = {"bytes": 1 << 30}
            await raw.text({"type": "call", "ch": 1, "method": "flood", "sandbox": "local", "params": params})
            link = gateway.links.get("local")

            def window_is_used() -> bool:
                connections = [link.connection for link in runtime.links]
                return any(connection.window(ch) == 0 for connection in connections for ch in connection.channels)

            await runtime.until(window_is_used)  # more than all buffers on the way to the client take
            runtime.links[0].abort()  # the stalled client cannot receive the error yet
            await until_lost(link)
            ch = await peer.call("echo")
            await runtime.until(lambda: [call.ch for call in runtime.seen if call.method == "echo"] == [1])
        await gateway.until_clients_closed(1)
        await peer.send(ch, 0, b"still mine")
        while (message := await peer.receive()).type != "data":
            pass
        assert message.payload == b"still mine"


async def test_reading_from_clients_pauses_while_a_link_is_congested(gateway: Gateway, runtime: FakeRuntime) -> None:
    async with gateway.peer() as peer:
        await peer.ask("answer")
        link = gateway.links.get("local").link
        transport = runtime.links[0].transport
        assert link is not None
        transport.pause_reading()

        async def ask() -> None:
            for _ in range(30):
                await peer.call("answer", {"x": "y" * 900_000})

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(ask())
            await gateway.until(lambda: link.connection.pending > sandbox_link.CONGESTED)
            for _ in range(500):
                await asyncio.sleep(0)
            assert link.connection.pending < sandbox_link.CONGESTED + 1_000_000
            transport.resume_reading()
            for _ in range(30):
                assert (await peer.receive()).type == "result"


async def test_a_call_to_an_unknown_sandbox_is_not_found(gateway: Gateway) -> None:
    async with gateway.peer() as peer:
        assert await code_of(peer.ask("answer", sandbox="other")) == ("not_found", "no", False)
        assert await peer.ask("answer", {"a": 1}) == {"a": 1}


async def test_links_of_unknown_sandboxes_are_not_kept(gateway: Gateway) -> None:
    table = gateway.links
    assert table is not None
    async with gateway.peer() as peer:
        ch = await peer.call("answer", sandbox="unknown")
        first = weakref.ref(table.get("unknown"))
        await code_of(peer.result(ch))
        await peer.ask("answer")
        gc.collect()
        assert first() is None
        assert table.get("local") is table.get("local")
