"""What a call's params may be, and what it grants back."""

from tests.support.runtime import Client


async def test_input_is_granted_back_to_the_byte_soon_after_it_is_applied(client: Client) -> None:
    call = client.execute("cat >/dev/null", stdin=True, input="i")
    for size in (1, 70_000, 5, 200_000):
        await call.type(b"x" * size)
        await call.until(lambda: call.granted == call.sent)
    call.end()
    await call.result()
