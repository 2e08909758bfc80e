"""A command with a syntax error is reported without being run, and the session's shell survives it."""

import os
from pathlib import Path

import pytest

from hawse_runtime.core.thread_pool import ThreadPools
from hawse_runtime.session.syntax_check import SyntaxCheck
from tests.support.runtime import Client, children, eventually
from tests.support.sessions import execute, run

UNCLOSED = ["echo $(", "cat <(", "cat >(", 'echo "$(', "x=$(echo", "f() { echo $(; }", "echo $(if)", "echo $(case"]
USABLE = "echo still; x=$(echo 1); f() { x=$(echo 2); }; f; (exit 3)"


@pytest.mark.parametrize("text", UNCLOSED)
async def test_a_syntax_error_in_a_substitution_is_reported_as_in_bash_and_the_session_continues(
    client: Client, text: str
) -> None:
    await client.ask("session.create", id="s", shell="/bin/bash")
    call = execute(client, text)
    result = await call.result()
    assert (result["code"], result["signal"], result["ended"]) == (2, None, False)
    assert call.stderr.startswith(b"bash: ")
    assert b"unexpected EOF" in call.stderr or b"syntax error" in call.stderr
    assert call.output == b""
    assert await run(client, "echo $?") == (0, b"2\n", b"")
    for _ in range(5):
        assert await run(client, USABLE) == (3, b"still\n", b"")


async def test_a_command_with_such_an_error_is_not_run_in_part(client: Client) -> None:
    await client.ask("session.create", id="s", shell="/bin/bash")
    assert (await run(client, "x=changed; touch made\necho $("))[0] == 2
    assert (await run(client, 'echo "${x-unset}"; ls'))[1] == b"unset\n"


async def test_the_aliases_and_options_of_the_session_apply_to_the_check(client: Client) -> None:
    await client.ask("session.create", id="s", shell="/bin/bash")
    await run(client, "alias begin='if true; then' it=\"it's=1\"; alias open='echo $('; touch a b")
    assert await run(client, "begin echo $(echo yes); fi") == (0, b"yes\n", b"")
    assert (await run(client, "open"))[0] == 2
    assert (await run(client, "echo $(ls !(a))"))[0] == 2
    await run(client, "shopt -s extglob")
    assert await run(client, "echo $(ls !(a))") == (0, b"b\n", b"")
    await run(client, "unalias begin; shopt -u extglob")
    assert (await run(client, "begin echo $(echo yes); fi"))[0] == 2
    assert (await run(client, "echo $(ls !(a))"))[0] == 2
    assert await run(client, "echo still") == (0, b"still\n", b"")


@pytest.mark.parametrize(
    "text",
    [
        "shopt -s extglob\necho $(echo out) !(*)",
        "alias begin='if true; then'\nbegin echo $(echo out) '!(*)'; fi",
    ],
)
async def test_a_command_may_change_in_one_line_how_the_next_one_is_parsed(client: Client, text: str) -> None:
    await client.ask("session.create", id="s", shell="/bin/bash")
    assert await run(client, text) == (0, b"out !(*)\n", b"")


async def test_a_debug_trap_and_traced_commands_do_not_disturb_the_check(client: Client) -> None:
    await client.ask("session.create", id="s", shell="/bin/bash")
    await run(client, "trap 'echo \"touch bad; $BASH_COMMAND\"' DEBUG; set -x; set -o noclobber -o posix")
    assert (await run(client, "echo $("))[0] == 2
    assert b"yes\n" in (await run(client, "echo $(echo yes)"))[1]
    await run(client, "trap - DEBUG; set +x")
    assert (await run(client, "ls"))[1] == b""


async def test_a_command_that_is_withdrawn_during_its_check_is_not_run(client: Client) -> None:
    await client.ask("session.create", id="s", shell="/bin/bash")
    first = execute(client, "sleep 0.2; echo $(echo 1)")
    second = execute(client, "touch made; echo $(echo 2)")
    await second.event("waiting")
    second.cancel()
    assert (await second.refusal()).code == "cancelled"
    await first.result()
    assert (await run(client, "ls; echo $(echo 3)"))[1] == b"3\n"


async def test_only_commands_of_bash_with_a_substitution_are_checked(pools: ThreadPools) -> None:
    check = SyntaxCheck("/bin/bash", pools.disk)
    assert not check.needed("echo a")
    assert check.needed("echo $(date)")
    assert not check.needed("alias a=b")
    assert check.needed("a"), "the alias may contain a substitution"
    assert not SyntaxCheck("/bin/dash", pools.disk).needed("echo $(")


async def test_a_parser_that_takes_too_long_is_killed_and_the_command_counts_as_valid(
    tmp_path: Path, pools: ThreadPools
) -> None:
    command, state = tmp_path / "command", tmp_path / "state"
    command.write_text("echo $(\n")
    state.write_text("sleep 60\n")
    before, fds = children(), len(os.listdir("/proc/self/fd"))
    assert await SyntaxCheck("/bin/bash", pools.disk, timeout=0.05).error(command, state) is None
    await eventually(lambda: children() == before)  # the parser is reaped, and its pidfd closed, without an event
    await eventually(lambda: len(os.listdir("/proc/self/fd")) == fds)
