"""The stdin of a command is the input that was sent before and after it began."""

from tests.support.runtime import Client
from tests.support.sessions import SHELLS, execute


@SHELLS
async def test_stdin_is_the_input_of_the_call_and_never_that_of_the_shell(client: Client, shell: str) -> None:
    await client.ask("session.create", id="s", shell=shell)
    call = execute(client, "read a; echo [$a]; cat", stdin=True, input="i")
    call.send(b"one\n")
    await call.seen(b"[one]\n")
    call.send(b"two")
    call.end()
    assert (await call.result())["code"] == 0
    assert call.output == b"[one]\ntwo"
    empty = execute(client, "cat", stdin=True, input="i")
    empty.end()
    assert (await empty.result())["stdout"] == 0
