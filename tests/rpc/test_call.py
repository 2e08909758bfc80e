"""Valid params of a call, and the credit that it returns."""

import pytest

from tests.support.runtime import Client


async def test_input_is_granted_back_to_the_byte_soon_after_it_is_applied(client: Client) -> None:
    call = client.execute("cat >/dev/null", stdin=True, input="i")
    for size in (1, 70_000, 5, 200_000):
        await call.type(b"x" * size)
        await call.until(lambda: call.granted == call.sent)
    call.end()
    await call.result()


async def test_a_key_that_is_echoed_is_granted_back_with_the_echo(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hawse.rpc.call.ACK_DELAY", 3600.0)
    shell = await client.terminal("stty raw -echo; printf ready; exec cat")
    await shell.seen(b"ready")
    await shell.type(b"k")
    await shell.seen(b"readyk")
    assert shell.granted == shell.sent
