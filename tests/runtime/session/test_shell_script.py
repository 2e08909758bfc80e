"""The lines that a shell reads, and their effect in bash and sh."""

from typing import Any

import pytest

from tests.support.runtime import Client, Served
from tests.support.sessions import SHELLS, execute, run


@SHELLS
async def test_the_directory_and_variables_of_one_call_are_undone(client: Client, shell: str) -> None:
    await client.ask("session.create", id="s", shell=shell, env={"E": "e", "G": "g"})
    await run(client, "cd /usr; n=n; cd /tmp")
    show = (
        'pwd; echo "[$E] [${G-none}] [$n] [${new-none}]"; sh -c \'echo "[$E] [${G-none}] [${n-none}] [${new-none}]"\''
    )
    before = await run(client, show)
    inside = await run(
        client, f"{show}; cd /; E=changed", cwd="/usr/lib", env={"E": "it's\n$x", "G": None, "n": "m", "new": "w"}
    )
    printed = b"[it's\n$x] [none] [m] [w]\n"
    assert inside == (0, b"/usr/lib\n" + printed + printed, b"")
    assert await run(client, show) == before
    assert (await run(client, "cd - >/dev/null; pwd"))[1] == b"/usr\n"
    assert (await run(client, "pwd", cwd="lib"))[1] == b"/usr/lib\n", "it begins at the session's"
    assert (await execute(client, "pwd", cwd="no/such").refusal()).code == "spawn_failed"


@SHELLS
@pytest.mark.parametrize(
    "text",
    [
        'echo "a',
        "if true",
        "case",
        "cat <<E\nx",
        "echo $(",
        "echo $(case",
        "cat <(",
        'echo "$(',
        "a=(",
        "f() {",
        "echo a \\",
    ],
)
async def test_an_unclosed_construct_does_not_block_the_session(client: Client, shell: str, text: str) -> None:
    await client.ask("session.create", id="s", shell=shell)
    code = (await run(client, text))[0]
    assert (code == 0) == text.startswith(("cat <<", "echo a \\"))
    for _ in range(3):
        assert await run(client, "echo still; x=$(echo 1); f() { x=$(echo 2); }; f") == (0, b"still\n", b"")


@SHELLS
@pytest.mark.parametrize("more", [{}, {"cwd": "/", "env": {"a": "b"}}])
async def test_no_prompt_is_expanded(client: Client, served: Served, shell: str, more: dict[str, Any]) -> None:
    await client.ask("session.create", id="s", shell=shell)
    note = f"echo x >>{served.workspace}/prompts"
    variables = f"PS1='$({note})' PROMPT_COMMAND='{note}'"
    assert await run(client, variables) == (0, b"", b"")
    for _ in range(3):
        assert await run(client, 'echo "$PS1 $PROMPT_COMMAND"', **more) == (0, f"$({note}) {note}\n".encode(), b"")
        assert (await run(client, "(exit 3)", **more))[0] == 3
    assert not (served.workspace / "prompts").exists()
    await run(client, "PS1=other; PROMPT_COMMAND=")
    assert await run(client, 'echo "[$PS1] [$PROMPT_COMMAND] [${__hawse_ps1-}]"') == (0, b"[other] [] []\n", b"")
    await run(client, "unset PS1 PROMPT_COMMAND")
    assert await run(client, 'echo "[${PS1-none}] [${PROMPT_COMMAND-none}]"') == (0, b"[none] [none]\n", b"")


async def test_prompt_commands_in_an_array_and_their_attributes_are_kept(client: Client, served: Served) -> None:
    await client.ask("session.create", id="s", shell="/bin/bash")
    note = f"echo x >>{served.workspace}/prompts"
    await run(client, f"PROMPT_COMMAND=('{note}' 'true \"a b\"'); export PS1=p")
    for _ in range(2):
        shown = await run(client, "declare -p PROMPT_COMMAND; sh -c 'echo \"$PS1\"'")
        assert shown == (0, f'declare -a PROMPT_COMMAND=([0]="{note}" [1]="true \\"a b\\"")\np\n'.encode(), b"")
    assert not (served.workspace / "prompts").exists()


async def test_a_slow_prompt_does_not_count_in_the_timeout(client: Client) -> None:
    await client.ask("session.create", id="s", shell="/bin/bash")
    await run(client, "PS1='$(sleep 60)'")
    assert await run(client, "echo on", timeout=30) == (0, b"on\n", b"")


@SHELLS
async def test_a_command_that_drops_its_line_reports_its_code_and_keeps_the_prompt(client: Client, shell: str) -> None:
    await client.ask("session.create", id="s", shell=shell)
    await run(client, "PS1=mine; readonly r=1")
    for _ in range(2):
        code, output, _ = await run(client, "echo $PS1; echo ${nothing?is missing}; echo never")
        assert (code != 0, output) == (True, b"mine\n")
        assert await run(client, "echo $PS1") == (0, b"mine\n", b"")
