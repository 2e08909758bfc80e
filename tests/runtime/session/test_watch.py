"""The end of a shell is reported to its watchers, to its commands and to later calls."""

import pytest

from tests.support.runtime import Client
from tests.support.sessions import SHELLS, execute, run


@SHELLS
@pytest.mark.parametrize(
    ("command", "exit_"), [("exit 5", (5, None)), ("exec sh -c 'exit 6'", (6, None)), ("kill -9 $$", (None, "SIGKILL"))]
)
async def test_the_end_of_a_shell_is_reported_and_its_id_can_be_used_again(
    client: Client, shell: str, command: str, exit_: tuple[int | None, str | None]
) -> None:
    created = await client.ask("session.create", id="s", shell=shell)
    watch = client.call("session.watch", {"id": "s"})
    await watch.event("opened")
    first = execute(client, f"echo last; {command}")
    second = execute(client, "echo never")
    result = await first.result()
    assert (result["code"], result["signal"], result["ended"]) == (*exit_, True)
    assert first.output == b"last\n"
    reported = (await watch.result())["exit"]
    assert (reported["code"], reported["signal"]) == exit_
    for refused in (second, execute(client, "echo never")):
        error = await refused.refusal()
        assert (error.code, error.admitted) == ("exited", "no")
        assert error.details["exit"] == reported
    assert (await client.ask("session.get", id="s"))["exit"] == reported
    again = await client.ask("session.create", id="s", shell=shell)
    assert again["instance"] != created["instance"]
    assert await run(client, "echo new") == (0, b"new\n", b"")
