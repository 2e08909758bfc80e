"""`port.watch` reports ports that open and close."""

import os
import signal

from tests.support.ports import listening
from tests.support.runtime import Channel, Client, Served


async def ports_of(watch: Channel, number: int) -> list[dict]:
    return (await watch.event("ports", number))["ports"]


async def test_a_port_that_opens_and_closes_is_reported(client: Client) -> None:
    watch = client.call("port.watch")
    assert await ports_of(watch, 1) == []
    port = await listening(client, "quiet")
    (found,) = await ports_of(watch, 2)
    assert (found["port"], found["addresses"], found["exposed"]) == (port, ["127.0.0.1"], False)
    assert found["process"].startswith("python")
    await client.ask("port.expose", port=port)
    assert (await ports_of(watch, 3))[0]["exposed"]
    os.kill(found["pid"], signal.SIGKILL)
    assert await ports_of(watch, 4) == []
    watch.cancel()
    assert (await watch.refusal()).code == "cancelled"


async def test_a_later_watch_begins_with_the_open_ports(client: Client, served: Served) -> None:
    port = await listening(client, "quiet")
    first = client.call("port.watch")
    assert [found["port"] for found in await ports_of(first, 1)] == [port]
    async with served.client() as other:
        second = other.call("port.watch")
        assert await ports_of(second, 1) == await ports_of(first, 1)


async def test_unread_changes_are_merged_into_one_event(client: Client, served: Served) -> None:
    other = await served.client(window=1)
    slow, quick = other.call("port.watch", generous=False), client.call("port.watch")
    await ports_of(slow, 1)  # it overdraws the window: no further event is sent before a grant
    await ports_of(quick, 1)
    ports = []
    for number in (2, 3):
        ports.append(await listening(client, "quiet"))
        await ports_of(quick, number)
    assert len(slow.events) == 1
    slow.grant(4096)
    assert [found["port"] for found in await ports_of(slow, 2)] == sorted(ports)
    await other.cut()


async def test_ports_are_polled_only_while_there_is_a_watch(client: Client) -> None:
    before = (await client.info())["tasks"]
    watches = [client.call("port.watch") for _ in range(10)]
    for watch in watches:
        await ports_of(watch, 1)
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
