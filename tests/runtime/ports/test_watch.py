"""What is told of ports that open and close."""

import os
import signal

from tests.support.ports import listening
from tests.support.runtime import Channel, Client, Served


async def told(watch: Channel, number: int) -> list[dict]:
    return (await watch.event("ports", number))["ports"]


async def test_a_port_that_opens_and_closes_is_told(client: Client) -> None:
    watch = client.call("port.watch")
    assert await told(watch, 1) == []
    port = await listening(client, "quiet")
    (found,) = await told(watch, 2)
    assert (found["port"], found["addresses"], found["exposed"]) == (port, ["127.0.0.1"], False)
    assert found["process"].startswith("python")
    await client.ask("port.expose", port=port)
    assert (await told(watch, 3))[0]["exposed"]
    os.kill(found["pid"], signal.SIGKILL)
    assert await told(watch, 4) == []
    watch.cancel()
    assert (await watch.refusal()).code == "cancelled"


async def test_who_comes_later_is_told_what_is_open(client: Client, served: Served) -> None:
    port = await listening(client, "quiet")
    first = client.call("port.watch")
    assert [found["port"] for found in await told(first, 1)] == [port]
    async with served.client() as other:
        second = other.call("port.watch")
        assert await told(second, 1) == await told(first, 1)


async def test_changes_that_nobody_has_read_are_one(client: Client, served: Served) -> None:
    other = await served.client(window=1)
    slow, quick = other.call("port.watch", generous=False), client.call("port.watch")
    await told(slow, 1)  # it overdraws the window: no other comes before a grant
    await told(quick, 1)
    ports = []
    for number in (2, 3):
        ports.append(await listening(client, "quiet"))
        await told(quick, number)
    assert len(slow.events) == 1
    slow.grant(4096)
    assert [found["port"] for found in await told(slow, 2)] == sorted(ports)
    await other.cut()


async def test_nobody_looks_while_nobody_watches(client: Client) -> None:
    before = (await client.info())["tasks"]
    watches = [client.call("port.watch") for _ in range(10)]
    for watch in watches:
        await told(watch, 1)
    assert (await client.info())["tasks"] == before + 1, "they share one task"
    for watch in watches:
        watch.cancel()
        await watch.refusal()
    while (await client.info())["tasks"] > before:
        pass


async def test_it_takes_no_input(client: Client) -> None:
    watch = client.call("port.watch")
    watch.send(b"x")
    assert (await watch.refusal()).code == "protocol_error"
