"""Two gateways on one Redis server serve the same sandboxes, and a client moves from one to the other."""

import asyncio
import os
import signal
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Final

import pytest
from redis.asyncio import Redis

import hawse
from hawse.client import Options, Output, Snapshot, Terminal
from tests.support.flood import END, check
from tests.support.http_clients import http_client
from tests.support.proxy import CuttingProxy
from tests.support.redis import RedisServer, redis_server, sentinel_group
from tests.support.runtime import alive
from tests.support.stack import Stack, post
from tests.support.waiting import TIMEOUT, Changes

QUICK = Options(backoff_cap=0.1)


async def created(hw: hawse.Client) -> hawse.Sandbox:
    return await hw.sandboxes.create("a", env={"A": "1"})


async def test_two_gateways_serve_the_same_sandboxes_and_one_continues_after_the_other(tmp_path: Path) -> None:
    state = tmp_path / "state"
    async with (
        redis_server(tmp_path) as url,
        Stack(state, "--store", url) as first,
        Stack(state, "--store", url) as second,
        hawse.connect(first.base, token=first.token) as one,
        hawse.connect(second.base, token=second.token) as other,
        other.sandboxes.watch() as changes,
    ):
        boxes = await asyncio.gather(*(created(hw) for hw in (one, other) for _ in range(5)))
        runtimes = {(await box.runtime()).runtime for box in boxes}
        assert len(runtimes) == 1, "ten creations by two gateways made one sandbox"
        assert len(first.runtimes("a")) == 1
        async with asyncio.timeout(30):
            async for change in changes:
                if change.info is not None and (change.id, change.info.state) == ("a", "running"):
                    break
        box = other.sandbox("a")
        async with box.terminals.open("t", argv=["cat"]):
            await one.sandbox("a").update(env={"A": "2"})
        await first.kill()
        assert {found.id for found in await box.terminals.list()} == {"t"}
        await box.stop()
        await box.wake()
        assert (await box.exec("echo $A")).stdout == b"2\n"
        assert {(await box.runtime()).runtime}.isdisjoint(runtimes)
        await box.delete()
        assert [info.id for info in await other.sandboxes.list()] == ["local"]


async def test_a_client_that_is_moved_by_goaway_and_by_a_kill_resumes_exactly(tmp_path: Path, make_flood) -> None:
    flood = make_flood(burst=100, pause=0.01)
    async with (
        redis_server(tmp_path) as url,
        Stack(tmp_path / "state", "--store", url) as first,
        Stack(tmp_path / "state", "--store", url) as second,
        CuttingProxy(first.port) as balancer,
        hawse.connect(balancer.url, token=first.token, options=QUICK) as hw,
        hw.sandbox().terminals.open("flood", argv=flood.argv, lossless=True) as term,
        asyncio.TaskGroup() as tasks,
    ):
        pid, received, changes = term.pid, bytearray(), Changes()
        reading = tasks.create_task(read_all(term, received, changes))
        await changes.until(lambda: len(received) > 20_000)
        await term.write(b"one.")
        balancer.lead_to(second.port)
        assert await first.terminate() == 0  # sends `goaway`
        moved = len(received)
        await term.write(b"two.")
        await changes.until(lambda: len(received) > moved + 20_000)
        await first.start()
        balancer.lead_to(first.port)
        await second.kill()
        moved = len(received)
        await term.write(b"three.")
        await changes.until(lambda: len(received) > moved + 20_000)
        info = await hw.sandbox().call("terminal.get", {"id": "flood"}, key="a")
        assert (info["pid"], info["instance"]) == (pid, term.instance)
        await term.write(END)
        await reading
        check(bytes(received))
        assert flood.typed() == b"one.two.three." + END
        assert hw.connections == 3


async def read_all(term: Terminal, received: bytearray, changes: Changes) -> None:
    """Read all output, each byte at its offset; a snapshot would be a loss."""
    async for item in term.items():
        assert not isinstance(item, Snapshot)
        if isinstance(item, Output):
            assert item.offset == len(received)
            received += item.data
            changes.notify()


COUNT: Final = "i=0; until [ -e stop ]; do i=$((i+1)); echo $i; sleep 0.01; done"


async def test_a_rolling_restart_under_load_loses_no_byte_and_does_each_call_once(tmp_path: Path) -> None:
    state = tmp_path / "state"
    async with (
        redis_server(tmp_path) as url,
        Stack(state, "--store", url) as first,
        Stack(state, "--store", url) as second,
        CuttingProxy(first.port) as balancer,
        AsyncExitStack() as connections,
    ):
        states = Changes()
        clients = [
            await connections.enter_async_context(
                hawse.connect(balancer.url, token=first.token, options=QUICK, on_state=lambda state: states.notify())
            )
            for _ in range(4)
        ]
        await clients[0].sandbox().runtime()
        rolled = asyncio.Event()
        async with asyncio.TaskGroup() as tasks:
            counting = [tasks.create_task(count(hw)) for hw in clients]
            calling = [tasks.create_task(call_until(hw, number, rolled)) for number, hw in enumerate(clients)]
            for moves, (old, new) in enumerate(((first, second), (second, first)), 1):
                balancer.lead_to(new.port)
                assert await old.terminate() == 0
                await old.start()
                await states.until(lambda moves=moves: all(hw.connections > moves for hw in clients))  # type: ignore[misc]
            rolled.set()
            await clients[0].sandbox().files.write("stop", b"")
        for task in counting:
            numbers = task.result().split()
            assert numbers == [b"%d" % number for number in range(1, len(numbers) + 1)]
        done = await clients[0].sandbox().exec("cat called")
        made = [f"{number}.{each}" for number, task in enumerate(calling) for each in range(task.result())]
        assert sorted(done.text.split()) == sorted(made), "each call was done once"


async def count(hw: hawse.Client) -> bytes:
    """Return all output of a counting process."""
    async with hw.sandbox().processes.start(["sh", "-c", COUNT]) as run:
        return b"".join([chunk async for chunk in run.stdout])


async def call_until(hw: hawse.Client, number: int, end: asyncio.Event) -> int:
    """Make one call after another, each of which writes a line; return the number of calls."""
    made = 0
    while not end.is_set():
        await hw.sandbox().exec(f"echo {number}.{made} >> called", check=True)
        made += 1
    return made


async def test_an_update_of_the_environment_is_seen_through_the_other_gateway_at_once(tmp_path: Path) -> None:
    async with (
        redis_server(tmp_path) as url,
        Stack(tmp_path / "state", "--store", url) as first,
        Stack(tmp_path / "state", "--store", url) as second,
        hawse.connect(first.base, token=first.token) as one,
        hawse.connect(second.base, token=second.token) as other,
    ):
        box = await other.sandboxes.create("a", env={"A": "1"})
        assert (await box.exec("echo $A")).stdout == b"1\n"
        await one.sandbox("a").update(env={"A": "2"})  # this gateway has no link to the runtime
        assert (await box.exec("echo $A")).stdout == b"2\n"


@pytest.mark.timeout(180)
async def test_a_gateway_that_is_suspended_during_a_start_loses_its_lease_and_makes_no_second_runtime(
    tmp_path: Path,
) -> None:
    async with (
        redis_server(tmp_path) as url,
        Stack(tmp_path / "state", "--store", url) as first,
        Stack(tmp_path / "state", "--store", url) as second,
        hawse.connect(second.base, token=second.token) as other,
        asyncio.TaskGroup() as tasks,
    ):
        creating = tasks.create_task(create_quietly(first))
        async with asyncio.timeout(60):
            while not first.runtimes():  # noqa: ASYNC110  # it is being started
                await asyncio.sleep(0.002)
        os.kill(first.pid, signal.SIGSTOP)
        begun = {process.pid for process in first.runtimes()}
        try:
            await other.sandbox("a").wake()  # waits until the lease of the other gateway has expired
            found = (await other.sandbox("a").runtime()).pid
        finally:
            os.kill(first.pid, signal.SIGCONT)
        await creating
        async with hawse.connect(first.base, token=first.token) as one:
            assert (await one.sandbox("a").runtime()).pid == found
        assert [process.pid for process in first.runtimes()] == [found]
        assert all(pid == found or not alive(pid) for pid in begun)
        await other.sandbox("a").delete()
        assert first.runtimes() == []


async def create_quietly(gateway: Stack) -> None:
    """Create a sandbox. The call may fail because another gateway has taken over."""
    async with hawse.connect(gateway.base, token=gateway.token) as hw:
        with suppress(hawse.HawseError):
            await hw.sandboxes.create("a")


async def test_a_redis_server_that_is_killed_or_suspended_is_unavailable_and_nothing_else_ends(tmp_path: Path) -> None:
    redis = RedisServer(tmp_path)
    await redis.start(durable=True)
    try:
        async with (
            Stack(tmp_path / "state", "--store", redis.url) as gateway,
            hawse.connect(gateway.base, token=gateway.token) as hw,
        ):
            box = await hw.sandboxes.create("a")
            async with box.terminals.open("t", argv=["cat"]) as terminal:
                runtime = (await box.info()).runtime
                await redis.kill()
                await terminal.write(b"echo\n")
                await terminal.expect("echo")
                assert await post(gateway, "/v1/sandbox.create", {"id": "b"}) == (503, "unavailable")
                await redis.start(durable=True)
                os.kill(redis.pid, signal.SIGSTOP)
                try:
                    await terminal.write(b"again\n")
                    await terminal.expect("again")
                    assert await post(gateway, "/v1/sandbox.create", {"id": "c"}) == (503, "unavailable")
                finally:
                    os.kill(redis.pid, signal.SIGCONT)
            assert (await box.info()).runtime == runtime
            await hw.sandboxes.create("d")
            names = {info.id for info in await hw.sandboxes.list() if info.state == "running"}
            assert {"a", "d"} <= names
            for name in names:
                await hw.sandbox(name).delete()
            assert gateway.runtimes("a") == []
    finally:
        await redis.kill()


async def test_after_redis_was_emptied_what_runs_goes_on_and_has_rows_again(tmp_path: Path) -> None:
    state = tmp_path / "state"
    async with (
        redis_server(tmp_path) as url,
        Stack(state, "--store", url) as first,
        Stack(state, "--store", url) as second,
        hawse.connect(first.base, token=first.token) as one,
        hawse.connect(second.base, token=second.token) as other,
    ):
        box = await one.sandboxes.create("a")
        runtime = (await box.info()).runtime
        async with other.sandbox("a").terminals.open("t", argv=["cat"]) as terminal, asyncio.timeout(TIMEOUT):
            redis = Redis.from_url(url)
            await redis.flushall()
            await redis.aclose()
            await terminal.write(b"goes on\n")
            await terminal.expect("goes on")
            while {info.id for info in await one.sandboxes.list()} != {"a", "local"}:  # noqa: ASYNC110  # a sweep
                await asyncio.sleep(0.1)
            await terminal.write(b"and on\n")
            await terminal.expect("and on")
            for hw in (one, other):
                assert (await hw.sandbox("a").info()).runtime == runtime
                assert (await hw.sandbox("a").exec("echo again")).stdout == b"again\n"
        await box.delete()
        assert first.runtimes("a") == []


async def test_after_a_fail_over_of_redis_all_goes_on_with_the_replica(tmp_path: Path) -> None:
    state = tmp_path / "state"
    async with (
        sentinel_group(tmp_path) as group,
        Stack(state, "--store", group.url) as first,
        Stack(state, "--store", group.url) as second,
        hawse.connect(first.base, token=first.token) as one,
        hawse.connect(second.base, token=second.token) as other,
    ):
        box = await one.sandboxes.create("a", env={"A": "1"})
        runtime = (await box.info()).runtime
        async with other.sandbox("a").terminals.open("t", argv=["cat"]) as terminal, asyncio.timeout(2 * TIMEOUT):
            await group.replicated()
            await group.kill_primary()
            await terminal.write(b"goes on\n")
            await terminal.expect("goes on")
            for hw in (one, other):
                while not await answers(hw):  # noqa: ASYNC110  # until the Sentinel names the other server
                    await asyncio.sleep(0.1)
                assert (await hw.sandbox("a").info()).runtime == runtime
        async with other.sandboxes.watch() as changes, asyncio.timeout(TIMEOUT):
            await one.sandboxes.create("b")
            async for change in changes:  # reported by the new server
                if change.info is not None and (change.id, change.info.state) == ("b", "running"):
                    break
        for name in ("a", "b"):
            await other.sandbox(name).delete()
        assert [info.id for info in await one.sandboxes.list()] == ["local"]


async def answers(hw: hawse.Client) -> bool:
    try:
        await hw.sandboxes.list()
    except hawse.UnavailableError:
        return False
    return True


async def test_limits_count_at_both_gateways(tmp_path: Path) -> None:
    options = ("--wrong-tokens=60", "--limit=user:connections=3")
    async with (
        redis_server(tmp_path) as url,
        Stack(tmp_path / "state", "--store", url, *options) as first,
        Stack(tmp_path / "state", "--store", url, *options) as second,
        AsyncExitStack() as connections,
    ):
        for _ in range(3):
            await connections.enter_async_context(hawse.connect(first.base, token=first.viewer_token, options=QUICK))
        async with asyncio.timeout(TIMEOUT):
            while not await limited(second):
                pass
        await connections.aclose()
        async with asyncio.timeout(TIMEOUT):
            while await limited(second):
                pass

        # Sent at once, because one more is allowed each second.
        assert 60 <= await wrong_tokens(first, 120) < 120
        tried = 0
        while (unlimited := await wrong_tokens(second, 6)) == 6:
            tried += unlimited
            assert tried < 60, "the other gateway counts alone"
            await asyncio.sleep(0.6)  # the gateways notify each other twice a second
        async with hawse.connect(second.base, token=second.token) as hw:
            assert hw.welcome is not None, "a token that was used before is not locked out"


async def limited(gateway: Stack) -> bool:
    """Return whether the viewer's token has reached its limit of connections and requests."""
    return await status(gateway, gateway.viewer_token) == 429


async def wrong_tokens(gateway: Stack, count: int) -> int:
    """Send `count` requests with a wrong token at once; return how many got 401. The others must get 429."""
    async with http_client(gateway.base, headers={"Authorization": "Bearer wrong"}, timeout=60) as http:
        answers = await asyncio.gather(*(http.post("/v1/sandbox.list", json={}) for _ in range(count)))
    codes = [answer.status_code for answer in answers]
    assert set(codes) <= {401, 429}
    return codes.count(401)


async def status(gateway: Stack, token: str) -> int:
    """Return the status of a request with a token."""
    async with http_client(gateway.base, headers={"Authorization": f"Bearer {token}"}, timeout=60) as http:
        return (await http.post("/v1/sandbox.list", json={})).status_code
