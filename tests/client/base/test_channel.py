"""A channel's handle: it acts on its own line, also when that is no longer the present one."""

from hawse.client.base.channel import ClientChannel
from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.wire import Cancel, Credit, HawseError
from tests.support.client import MemoryLine


async def make() -> tuple[MemoryLine, ClientChannel]:
    line = MemoryLine(CallTable(Options()))
    return line, ClientChannel(line, line.connection.call("x"))


async def test_a_grant_reaches_the_server() -> None:
    line, channel = await make()
    channel.grant(50)
    assert line.kicks == 1
    assert [(credit.ch, credit.bytes) for credit in line.of(Credit)] == [(channel.ch, 50)]


async def test_cancelling_says_so_once() -> None:
    line, channel = await make()
    channel.cancel()
    channel.cancel()
    assert len(line.of(Cancel)) == 1


async def test_after_the_last_word_nothing_has_an_effect() -> None:
    line, channel = await make()
    line.error(HawseError("not_found"))
    heard = len(line.heard)
    channel.grant(50)
    channel.wake()
    channel.cancel()
    line.pump()
    assert len(line.heard) == heard
