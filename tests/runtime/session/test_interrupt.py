"""A timeout ends a command, but neither the shell nor processes of earlier commands."""

import os
from pathlib import Path

import pytest

from hawse_runtime.session.session import SessionLimits
from hawse_runtime.session.shell_script import STOP_SIGNAL
from hawse_runtime.settings import RuntimeLimits
from tests.support.client import eventually
from tests.support.runtime import Client, alive
from tests.support.sessions import SHELLS, execute, run


@SHELLS
async def test_a_cancelled_command_ends_and_the_session_continues(client: Client, shell: str) -> None:
    await client.ask("session.create", id="s", shell=shell)
    await run(client, "kept=kept; sleep 61 & bg=$!")
    endless = execute(client, "echo begun; sleep 60; echo never", key="endless")
    await endless.until(lambda: endless.output == b"begun\n")
    following = execute(client, "echo $kept $bg")
    assert await client.ask("session.cancel", {"id": "s", "key": "another key"}) == {}
    assert not endless.closed
    assert await client.ask("session.cancel", {"id": "s", "key": "endless"}) == {}
    result = await endless.result()
    assert (result["code"], result["signal"], result["timed_out"], result["ended"]) == (None, "SIGTERM", False, False)
    assert b"never" not in endless.output
    assert (await following.result())["code"] == 0
    kept, background = bytes(following.output).split()
    assert kept == b"kept"
    assert alive(int(background)), "it belongs to an earlier command"


@SHELLS
async def test_a_stop_that_comes_after_the_end_of_its_command_does_not_affect_the_shell(
    client: Client, shell: str
) -> None:
    """A command may end between the decision to stop it and the signal. bash 5.2 crashed, sooner or later."""
    pid = (await client.ask("session.create", id="s", shell=shell))["pid"]
    for number in range(20):
        assert await run(client, f"echo {number}") == (0, b"%d\n" % number, b"")
        await eventually(lambda: Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "S")
        os.kill(pid, STOP_SIGNAL)
    assert (await client.ask("session.get", id="s"))["state"] == "running"


async def test_a_command_that_waits_is_cancelled_by_its_key(client: Client) -> None:
    await client.ask("session.create", id="s")
    running = execute(client, "sleep 60")
    await running.event("opened")
    waiting = execute(client, "echo never", key="k")
    await waiting.event("waiting")
    await client.ask("session.cancel", {"id": "s", "key": "k"})
    assert (await waiting.refusal()).code == "cancelled"
    await client.ask("session.cancel", id="s")
    assert (await running.result())["signal"] == "SIGTERM"
    await client.ask("session.cancel", id="s")  # nothing runs


async def test_the_grace_of_a_cancel_bounds_a_command_that_ignores_term(client: Client) -> None:
    await client.ask("session.create", id="s")
    deaf = execute(client, "sh -c 'trap \"\" TERM; echo begun; while :; do sleep 0.01; done'")
    await deaf.until(lambda: deaf.output == b"begun\n")
    await client.ask("session.cancel", id="s", grace=0)
    assert (await deaf.result())["signal"] == "SIGTERM"
    assert await run(client, "echo on") == (0, b"on\n", b"")


async def test_a_session_has_a_default_timeout_of_its_commands(client: Client) -> None:
    assert (await client.ask("session.create", id="s", command_timeout=0.1))["command_timeout"] == 0.1
    result = await execute(client, "sleep 60").result()
    assert (result["code"], result["timed_out"]) == (124, True)
    assert await run(client, "sleep 0.2; echo done", timeout=20) == (0, b"done\n", b"")
    refused = client.call("session.create", {"id": "t", "command_timeout": 0})
    assert (await refused.refusal()).code == "invalid_params"


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
