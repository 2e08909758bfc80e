"""A timeout ends a command, but neither the shell nor processes of earlier commands."""

import pytest

from runtime.session.session import SessionLimits
from runtime.settings import RuntimeLimits
from tests.support.runtime import Client, alive
from tests.support.sessions import SHELLS, execute, run


@SHELLS
@pytest.mark.parametrize("limits", [RuntimeLimits(sessions=SessionLimits(kill_grace=1.0))])
@pytest.mark.parametrize(
    "command",
    [
        "sleep 60; echo never",
        "while :; do :; done; echo never",
        "f() { while sleep 60; do :; done; }; f; echo never",
        "sh -c 'trap exit INT TERM; while :; do sleep 0.01; done'; echo never",
        "x=$(sleep 60); echo never",
        "(while :; do :; done); echo never",
        "sleep 60 | cat; echo never",
        "sleep 60 & wait; echo never",
        "trap 'echo trapped' INT; sleep 60; echo never",
        "mkfifo p; read x <p; echo never",
        "kill -STOP $$; sleep 60; echo never",
    ],
)
async def test_a_timeout_ends_the_command_and_neither_the_shell_nor_the_next_one(
    client: Client, shell: str, command: str
) -> None:
    await client.ask("session.create", id="s", shell=shell)
    await run(client, "kept=kept; sleep 61 & bg=$!")
    late = execute(client, command, timeout=0.1)
    following = execute(client, "echo $kept $bg", timeout=20)
    result = await late.result()
    assert (result["code"], result["timed_out"], result["ended"]) == (124, True, False), bytes(late.stderr)
    assert b"never" not in late.output
    assert (await following.result())["code"] == 0
    kept, background = bytes(following.output).split()
    assert kept == b"kept"
    assert alive(int(background)), "it belongs to an earlier command"
