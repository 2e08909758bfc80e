"""What a shell is told: the lines, and what they do in the real shells."""

import pytest

from tests.support.runtime import Client
from tests.support.sessions import SHELLS, execute, run


@SHELLS
async def test_a_calls_own_directory_and_variables_are_undone(client: Client, shell: str) -> None:
    await client.ask("session.create", id="s", shell=shell, env={"E": "e", "G": "g"})
    await run(client, "cd /usr; n=n; cd /tmp")
    show = (
        'pwd; echo "[$E] [${G-none}] [$n] [${new-none}]"; sh -c \'echo "[$E] [${G-none}] [${n-none}] [${new-none}]"\''
    )
    before = await run(client, show)
    inside = await run(
        client, f"{show}; cd /; E=changed", cwd="/usr/lib", env={"E": "it's\n$x", "G": None, "n": "m", "new": "w"}
    )
    told = b"[it's\n$x] [none] [m] [w]\n"
    assert inside == (0, b"/usr/lib\n" + told + told, b"")
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
async def test_what_is_never_closed_wedges_nothing(client: Client, shell: str, text: str) -> None:
    await client.ask("session.create", id="s", shell=shell)
    code = (await run(client, text))[0]
    assert (code == 0) == text.startswith(("cat <<", "echo a \\"))
    for _ in range(3):
        assert await run(client, "echo still; x=$(echo 1); f() { x=$(echo 2); }; f") == (0, b"still\n", b"")
