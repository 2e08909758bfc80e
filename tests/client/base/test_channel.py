"""A channel's handle: it acts on its own line, also when that is no longer the present one."""

from hawse.client.base.channel import ClientChannel
from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.wire import Cancel, Credit, HawseError
from tests.support.client import MemoryConnection


async def make() -> tuple[MemoryConnection, ClientChannel]:
    connection = MemoryConnection(CallTable(Options()))
    return connection, ClientChannel(connection, connection.protocol.call("x"))


async def test_a_grant_reaches_the_server() -> None:
    connection, channel = await make()
    channel.grant(50)
    assert connection.wakes == 1
    assert [(credit.ch, credit.bytes) for credit in connection.of(Credit)] == [(channel.ch, 50)]


async def test_cancelling_says_so_once() -> None:
    connection, channel = await make()
    channel.cancel()
    channel.cancel()
    assert len(connection.of(Cancel)) == 1


async def test_after_the_last_word_nothing_has_an_effect() -> None:
    connection, channel = await make()
    connection.error(HawseError("not_found"))
    heard = len(connection.received)
    channel.grant(50)
    channel.wake()
    channel.cancel()
    connection.pump()
    assert len(connection.received) == heard
