"""The shell process: its pipes, and what commands can do to it."""

import os

import pytest

from hawse_runtime.session.session import SessionLimits
from hawse_runtime.settings import RuntimeLimits
from tests.support.runtime import Client
from tests.support.sessions import SHELLS, execute, run

FAST_WATCHDOG = pytest.mark.parametrize("limits", [RuntimeLimits(sessions=SessionLimits(watchdog=0.05))])


@SHELLS
async def test_bytes_are_exact(client: Client, shell: str) -> None:
    await client.ask("session.create", id="s", shell=shell)
    assert await run(client, r"printf 'a\0\377\n\nb'; printf 'e\0' >&2; (exit 3)") == (3, b"a\0\xff\n\nb", b"e\0")
    assert await run(client, "cat", stdin=False) == (0, b"", b"")
    assert await run(client, "head -c 3000000 /dev/zero | tr '\\0' x") == (0, b"x" * 3_000_000, b"")


async def test_background_jobs_that_keep_the_pipes_open_do_not_delay_the_result(client: Client) -> None:
    await client.ask("session.create", id="s")
    assert await run(client, "sleep 60 & echo x") == (0, b"x\n", b"")
    assert await run(client, "jobs | wc -l") == (0, b"1\n", b"")


@SHELLS
async def test_a_command_has_its_three_pipes_and_no_descriptor_of_the_shell(client: Client, shell: str) -> None:
    await client.ask("session.create", id="s", shell=shell)
    _, out, _ = await run(client, "ls -l /proc/self/fd | sed -n 's/.* \\([0-9]\\) -> /\\1 /p'")
    descriptors = dict(line.split(" ", 1) for line in out.decode().splitlines())
    assert descriptors["0"] == "/dev/null"
    assert set(descriptors) == {"0", "1", "2", "3"}, "3 is the directory itself"


@pytest.mark.parametrize(
    "command",
    [
        "printf() { :; }; eval() { :; }; exec() { :; }; alias printf=false exec=false",
        "exec 0<&- 1>&- 2>&-",
        "exec 10</dev/null 11<&10",
        "set -eu -o pipefail -o noclobber",
        "set -f; set -x",
        "trap 'echo bye' EXIT; trap 'echo debug' DEBUG; trap 'echo err' ERR",
        "trap '' INT TERM HUP",
        "readonly PWD OLDPWD IFS",
        "IFS=0123456789E",
        "PATH=/nonexistent",
        "cd /; unset PATH HOME IFS",
        "set -m; sleep 60 &",
        "umask 777",
        "PS1='$(echo oops)' PROMPT_COMMAND='echo prompt'",
        "shopt -s extdebug nullglob failglob; set -o posix",
    ],
)
async def test_a_command_that_changes_its_shell_does_not_block_the_session(client: Client, command: str) -> None:
    await client.ask("session.create", id="s", shell="/bin/bash")
    await run(client, command)
    for _ in range(2):
        call = execute(client, "builtin echo on", cwd="/", env={"a": "b"})
        assert (await call.result())["code"] == 0, bytes(call.stderr)
        assert b"on\n" in call.output


@FAST_WATCHDOG
@pytest.mark.parametrize(
    "command", ["ulimit -n 0", 'for n in 10 11 12 13; do eval "exec $n<&-"; done', "builtin() { :; }"]
)
async def test_a_shell_that_can_no_longer_report_is_killed_and_the_result_has_ended_set(
    client: Client, command: str
) -> None:
    await client.ask("session.create", id="s", shell="/bin/bash")
    result = await execute(client, command).result()
    if not result["ended"]:
        result = await execute(client, "echo").result()
    assert result["ended"]
    assert (await client.ask("session.get", id="s"))["state"] == "exited"


@FAST_WATCHDOG
async def test_a_command_that_removes_the_directory_of_the_pipes_ends_the_session(client: Client) -> None:
    created = await client.ask("session.create", id="s")
    folder = os.path.dirname(os.readlink(f"/proc/{created['pid']}/fd/0"))
    result = await execute(client, f"rm -rf {folder}").result()
    assert result["ended"]
    await client.ask("session.create", id="s")
    assert await run(client, "echo new") == (0, b"new\n", b"")
