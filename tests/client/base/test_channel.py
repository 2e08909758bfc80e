"""The handle of a channel acts on its own connection, also when that is no longer the present one."""

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


async def test_cancelling_sends_cancel_once() -> None:
    connection, channel = await make()
    channel.cancel()
    channel.cancel()
    assert len(connection.of(Cancel)) == 1


async def test_after_the_final_message_nothing_has_an_effect() -> None:
    connection, channel = await make()
    connection.error(HawseError("not_found"))
    received = len(connection.received)
    channel.grant(50)
    channel.wake()
    channel.cancel()
    connection.pump()
    assert len(connection.received) == received
