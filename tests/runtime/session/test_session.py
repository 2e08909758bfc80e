"""A session keeps its state between commands, and runs them in the order of their calls."""

from tests.support.runtime import Client, Served
from tests.support.sessions import SHELLS, execute, run


@SHELLS
async def test_directory_variables_functions_and_aliases_stay(client: Client, shell: str) -> None:
    await client.ask("session.create", id="s", shell=shell)
    assert await run(client, "cd /; x=1; export y=2; f() { echo f; }\nalias a='echo a'") == (0, b"", b"")
    assert await run(client, "pwd; echo $x; sh -c 'echo $x$y'; f; a") == (0, b"/\n1\n2\nf\na\n", b"")


@SHELLS
async def test_a_command_sees_the_exit_code_of_the_one_before(client: Client, shell: str) -> None:
    await client.ask("session.create", id="s", shell=shell)
    assert (await run(client, "(exit 7)"))[0] == 7
    assert await run(client, "echo $?") == (0, b"7\n", b"")


async def test_calls_queue_in_order_and_sessions_do_not_wait_for_each_other(client: Client, served: Served) -> None:
    for name in ("s", "t"):
        await client.ask("session.create", id=name)
    gate = served.workspace / "gate"
    first = execute(client, "until [ -e gate ]; do sleep 0.01; done; echo 0 >> order")
    rest = [execute(client, f"echo {n} >> order") for n in range(1, 6)]
    assert (await rest[2].event("waiting")) == {"ahead": 3}
    await rest[3].event("waiting")
    rest[3].cancel()
    assert (await rest[3].refusal()).code == "cancelled"
    await run(client, "touch gate", "t")
    await first.result()
    for call in (*rest[:3], rest[4]):
        await call.result()
    assert (served.workspace / "order").read_text().split() == ["0", "1", "2", "3", "5"]
    assert gate.exists()
