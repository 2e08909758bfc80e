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


@pytest.mark.parametrize(("more", "most"), [({}, 2), ({"cwd": "/", "env": {"a": "b"}}, 4)])
async def test_the_prompt_is_expanded_once_for_each_line_that_runs_a_command(
    client: Client, served: Served, more: dict[str, Any], most: int
) -> None:
    await client.ask("session.create", id="s", shell="/bin/bash")
    await run(client, f"PROMPT_COMMAND='echo x >>{served.workspace}/prompts'")
    await run(client, "true")
    prompts = served.workspace / "prompts"
    before = len(prompts.read_text().splitlines())
    for _ in range(10):
        await run(client, "true", **more)
    assert len(prompts.read_text().splitlines()) - before <= 10 * most + most
