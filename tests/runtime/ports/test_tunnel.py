"""A connection to a program's port, carried by a channel."""

import hashlib
import os
import signal

import pytest

from hawse.wire import HawseError
from tests.support.ports import connected, listening
from tests.support.runtime import Channel, Client, Served

MIB = 1 << 20
SOME = bytes(range(251)) * 8000  # about 2 MB, of a prime period


async def test_bytes_go_both_ways_and_each_end_closes_on_its_own(client: Client) -> None:
    channel = await connected(client, await listening(client, "echo"))
    await channel.type(SOME)
    channel.end()
    assert await channel.result() == {"received": len(SOME), "sent": len(SOME)}
    assert channel.output == SOME
    assert (await channel.event("end"))["offset"] == len(SOME)


async def test_the_other_side_may_answer_after_our_end(client: Client) -> None:
    channel = await connected(client, await listening(client, "late"))
    await channel.type(SOME)
    channel.end()
    await channel.result()
    assert channel.output.decode() == f"{len(SOME)} {hashlib.sha256(SOME).hexdigest()}"


async def test_the_other_side_may_end_before_us(client: Client) -> None:
    channel = await connected(client, await listening(client, "flood", "100000"))
    await channel.event("end")
    assert len(channel.output) == 100_000
    assert not channel.closed
    channel.end()
    assert (await channel.result())["received"] == 100_000


async def test_input_that_is_sent_before_the_connection_is_made_is_not_lost(client: Client) -> None:
    port = await listening(client, "late")
    channel = client.call("port.connect", {"port": port})
    channel.send(b"early")
    channel.end()
    await channel.result()
    assert channel.output.decode() == f"5 {hashlib.sha256(b'early').hexdigest()}"


async def test_without_credit_nothing_is_sent_and_the_program_waits(client: Client) -> None:
    port = await listening(client, "flood", str(64 * MIB))
    channel = client.call("port.connect", {"port": port}, window=100_000, generous=False)
    await channel.until(lambda: len(channel.output) >= 100_000 - 200)
    before = (await client.info())["memory"]
    channel.grant(MIB)
    await channel.until(lambda: len(channel.output) >= MIB)
    # The test and the runtime are one process, so the allocator's reserves count; the program offers 64 MiB.
    assert (await client.info())["memory"] - before < 16 * MIB
    channel.cancel()
    assert (await channel.refusal()).code == "cancelled"


async def test_input_that_a_program_does_not_read_is_not_acknowledged(client: Client) -> None:
    channel = await connected(client, await listening(client, "deaf"))
    window = client.connection.limits.input_window
    sent = 0
    while sent < 64 * MIB and await _room(client, channel):
        size = min(client.connection.window(channel.ch), 65_536)
        channel.send(bytes(size))
        sent += size
    assert sent < 64 * MIB, "it took everything"
    assert sent - channel.granted == window, "a whole window is on its way, and no more"


async def _room(client: Client, channel: Channel) -> bool:
    """Whether the window is above 0 now, or is so after an answer that came later than any credit would."""
    for _ in range(20):
        if client.connection.window(channel.ch) > 0:
            return True
        await client.execute("sleep 0.01").result()
    return False


async def test_a_connection_that_breaks_is_an_error_after_what_came(client: Client) -> None:
    channel = await connected(client, await listening(client, "reset"))
    await channel.seen(b"a line\n")
    channel.send(b"go\n")
    error = await channel.refusal()
    assert (error.code, error.admitted) == ("io_error", "yes")


async def test_a_port_without_a_listener_is_unavailable(client: Client) -> None:
    port = await listening(client, "echo")
    (known,) = (await client.ask("port.list"))["ports"]
    os.kill(known["pid"], signal.SIGKILL)
    await client.channels[1].result()
    error = await client.refused("port.connect", port=port)
    assert (error.code, error.retryable, error.details) == ("unavailable", True, {"port": port})


async def test_a_program_that_listens_only_on_ipv6_is_reached(client: Client) -> None:
    channel = await connected(client, await listening(client, "echo", "--host", "::1"))
    assert (await channel.event("opened"))["address"] == "::1"
    channel.send(b"six")
    await channel.seen(b"six")


async def test_a_gap_in_the_input_ends_it(client: Client) -> None:
    channel = await connected(client, await listening(client, "echo"))
    channel.send(b"x", 10)
    with pytest.raises(HawseError, match="input_gap"):
        await channel.result()


async def test_a_lost_client_leaves_no_connection_at_any_step(client: Client, served: Served) -> None:
    port = await listening(client, "echo")
    quiet = await listening(client, "deaf")
    before = await client.info()
    for step in range(4):
        other = await served.client()
        channel = other.call("port.connect", {"port": quiet if step == 3 else port})
        if step:
            await channel.event("opened")
        if step == 2:
            channel.end()
        if step == 3:
            channel.send(bytes(65_536))
        await other.cut()
    after = await client.info()
    while after["open_fds"] > before["open_fds"] or after["tasks"] > before["tasks"]:
        after = await client.info()
