"""The reconnector: reconnecting, pausing, `goaway`, giving up, and being refused."""

import asyncio

import pytest

import hawse
from hawse.client import ClientClosedError, ConnectionState, GaveUpError, Options, RefusedError
from hawse.wire import HawseError, RemoteProtocolError
from tests.support.client import mute_server
from tests.support.fake_server import FakeServer
from tests.support.proxy import CuttingProxy
from tests.support.sync_bridge import Connect


class Pauses:
    """A sleep that takes no time, and what was slept. Pings sleep a whole day."""

    DAY = 86_400.0

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def __call__(self, seconds: float) -> None:
        if seconds == self.DAY:
            await asyncio.get_running_loop().create_future()
        self.slept.append(seconds)
        await asyncio.sleep(0)


def options(pauses: Pauses | None = None, **more: object) -> Options:
    return Options(sleep=pauses or Pauses(), ping_interval=Pauses.DAY, dice=lambda: 1.0, **more)  # type: ignore[arg-type]


async def reach(hw: hawse.Client, state: ConnectionState) -> None:
    async for now in hw.states():
        if now is state:
            return


@pytest.mark.async_only(reason="a thread reads states too late to see each")
async def test_a_lost_connection_is_replaced_at_once(server: FakeServer, proxy: CuttingProxy, connect: Connect) -> None:
    pauses = Pauses()
    async with connect(proxy.url, options=options(pauses)) as hw:
        assert await hw.call("echo", {"n": 1}) == {"n": 1}
        proxy.cut()
        await reach(hw, ConnectionState.WAITING)
        assert await hw.call("echo", {"n": 2}) == {"n": 2}
        assert hw.connections == 2
    assert pauses.slept == [0]


async def test_a_gateway_that_is_away_is_tried_at_growing_intervals(
    server: FakeServer, proxy: CuttingProxy, connect: Connect
) -> None:
    pauses = Pauses()
    async with connect(proxy.url, options=options(pauses, backoff_base=0.5, backoff_cap=1.5)) as hw:
        proxy.refuse()
        await proxy.until_refused(5)
        proxy.resume()
        assert await hw.call("echo") == {}
    assert pauses.slept[:5] == [0, 0.5, 1, 1.5, 1.5]


@pytest.mark.async_only(reason="a thread reads states too late to see each")
async def test_a_connection_that_lasted_resets_the_delays(
    server: FakeServer, proxy: CuttingProxy, connect: Connect
) -> None:
    pauses, now = Pauses(), [0.0]
    async with connect(proxy.url, options=options(pauses, clock=lambda: now[0], stable=5)) as hw:
        for lived in (0, 1, 6):
            now[0] += lived
            proxy.cut()
            await reach(hw, ConnectionState.WAITING)
            await reach(hw, ConnectionState.OPEN)
    assert pauses.slept == [0, 0.25, 0]


@pytest.mark.async_only(reason="a thread reads states too late to see each")
async def test_the_server_sets_the_delay_before_the_next_attempt(server: FakeServer, connect: Connect) -> None:
    pauses = Pauses()
    async with connect(server.url, options=options(pauses)) as hw:
        open_ = asyncio.create_task(hw.call("never", key="k"))
        await server.until(lambda: server.calls)
        server.session.go_away(7)
        await reach(hw, ConnectionState.WAITING)
        assert await hw.call("echo", {"after": 1}) == {"after": 1}
        assert [call.method for call in server.calls] == ["never", "never", "echo"]
        open_.cancel()
    assert pauses.slept == [7]


async def test_a_refused_client_raises_at_once(server: FakeServer, connect: Connect) -> None:
    server.token = "secret"
    with pytest.raises(RefusedError, match="unauthenticated"):
        async with connect(server.url, token="wrong", options=options()):
            pytest.fail("not reached")
    assert server.authorization == ["Bearer wrong"]


@pytest.mark.async_only(reason="a thread reads states too late to see each")
async def test_a_token_is_fetched_for_each_attempt_and_a_failure_is_retried(
    server: FakeServer, proxy: CuttingProxy, connect: Connect
) -> None:
    server.token = "t2"
    tokens = iter(["t2", None, "t2", "t4"])

    async def fetch() -> str:
        token = next(tokens)
        if token is None:
            raise OSError("no network")
        return token

    async with connect(proxy.url, token=fetch, options=options()) as hw:
        proxy.cut()
        await reach(hw, ConnectionState.WAITING)
        assert await hw.call("echo") == {}
        waiting = asyncio.create_task(hw.call("never", key="k"))
        await server.until(lambda: [call.method for call in server.calls][-1:] == ["never"])
        proxy.cut()
        with pytest.raises(RefusedError, match="unauthenticated"):
            await waiting
        assert hw.state is ConnectionState.CLOSED
        with pytest.raises(RefusedError, match="unauthenticated"):
            await hw.call("echo")


async def test_every_waiting_call_and_iterator_gets_the_error_that_closed_the_client(
    server: FakeServer, connect: Connect
) -> None:
    async with (
        connect(server.url, options=options()) as hw,
        hw.sandbox().terminals.open("main") as term,
        asyncio.TaskGroup() as group,
    ):

        async def failure(waiting: object) -> str:
            with pytest.raises(RefusedError) as caught:
                await waiting  # type: ignore[misc]
            return caught.value.code

        async def read() -> None:
            async for _ in term:
                pass

        tasks = [group.create_task(failure(what)) for what in (hw.call("never"), term.wait(), read())]
        await server.until(lambda: "never" in [call.method for call in server.calls])
        await server.session.websocket.close(4403)
    assert [task.result() for task in tasks] == ["forbidden"] * 3


async def test_a_server_that_violates_the_protocol_is_not_dialled_again(server: FakeServer, connect: Connect) -> None:
    async with connect(server.url, options=options()) as hw:
        waiting = asyncio.create_task(hw.call("never"))
        await server.until(lambda: server.calls)
        await server.session.websocket.send("{}")
        with pytest.raises(RemoteProtocolError):
            await waiting
    assert server.served == 1


async def test_connecting_is_given_up_after_a_while_with_the_reason(connect: Connect) -> None:
    async with FakeServer() as server:
        port = server.port
    with pytest.raises(GaveUpError, match=rf"no connection within 2 s: the connection to 127.0.0.1:{port} was refused"):
        async with connect(f"ws://127.0.0.1:{port}", options=Options(connect_timeout=2)):
            pytest.fail("not reached")


@pytest.mark.async_only(reason="hawse.sync has no client before it is connected")
async def test_the_first_attempt_may_be_the_only_one(connect: Connect) -> None:
    async with FakeServer() as server:
        port = server.port
    client = connect(f"ws://127.0.0.1:{port}", options=Options(first_give_up=0, sleep=not_reached))
    with pytest.raises(GaveUpError, match=rf"^unavailable: the connection to 127.0.0.1:{port} was refused$"):
        await client
    assert client.problem == f"no connection: the connection to 127.0.0.1:{port} was refused"


async def test_a_limit_for_the_first_connection_does_not_bound_later_outages(
    server: FakeServer, proxy: CuttingProxy, connect: Connect
) -> None:
    async with connect(proxy.url, options=options(first_give_up=0)) as hw:
        await hw.call("echo", {})
        proxy.refuse()
        waiting = asyncio.create_task(hw.call("echo", {"a": 1}, key="k"))
        await reach(hw, ConnectionState.WAITING)
        proxy.resume()
        assert await waiting == {"a": 1}


async def not_reached(seconds: float) -> None:
    pytest.fail("there was another attempt")


async def test_an_outage_may_be_bounded(server: FakeServer, proxy: CuttingProxy, connect: Connect) -> None:
    now = [0.0]

    async def sleep(seconds: float) -> None:
        if seconds == Pauses.DAY:
            await asyncio.get_running_loop().create_future()
        now[0] += 1 + seconds
        await asyncio.sleep(0)

    bounded = Options(sleep=sleep, clock=lambda: now[0], give_up=60, ping_interval=Pauses.DAY, dice=lambda: 1.0)
    async with connect(proxy.url, options=bounded) as hw:
        waiting = asyncio.create_task(hw.call("never", key="k"))
        await server.until(lambda: server.sessions and server.calls)
        proxy.refuse()
        with pytest.raises(GaveUpError):
            await waiting
        assert hw.state is ConnectionState.CLOSED


@pytest.mark.async_only(reason="a thread reads states too late to see each")
async def test_state_changes_are_reported(server: FakeServer, proxy: CuttingProxy, connect: Connect) -> None:
    reported: list[ConnectionState] = []
    async with connect(proxy.url, options=options(), on_state=reported.append) as hw:
        proxy.cut()
        await reach(hw, ConnectionState.WAITING)
        await reach(hw, ConnectionState.OPEN)
        states = hw.states()
    assert reported == [
        ConnectionState.CONNECTING,
        ConnectionState.OPEN,
        ConnectionState.WAITING,
        ConnectionState.CONNECTING,
        ConnectionState.OPEN,
        ConnectionState.CLOSED,
    ]
    assert [state async for state in states] == [ConnectionState.CLOSED]


async def test_a_silent_server_is_given_up(connect: Connect) -> None:
    async with mute_server() as port:
        with pytest.raises(GaveUpError):
            async with connect(f"ws://127.0.0.1:{port}", options=Options(connect_timeout=0.05)):
                pytest.fail("not reached")


async def test_leaving_ends_waiting_calls(server: FakeServer, connect: Connect) -> None:
    async with connect(server.url, options=options()) as hw:
        sent = asyncio.create_task(hw.call("never"))
        await server.until(lambda: server.calls)
    with pytest.raises(ClientClosedError) as caught:
        await sent
    assert caught.value.admitted == "unknown"
    with pytest.raises(HawseError):
        await hw.call("echo")
