"""Processes that start from the state of a session."""

from tests.support.runtime import Client
from tests.support.sessions import SHELLS, run


@SHELLS
async def test_a_process_starts_from_the_state_of_its_session(client: Client, shell: str) -> None:
    await client.ask("session.create", id="s", shell=shell)
    await run(client, "cd /usr; export v='a\nb'; unset HOME; alias hi='echo hello'; (exit 9)")
    started = await client.ask(
        "session.process", session="s", id="p", command='pwd; echo "$v" ${HOME-none}; hi; cd /; v=c'
    )
    assert started["cwd"] == "/usr"
    reader = client.call("process.attach", {"id": "p"})
    assert (await reader.result())["exit"]["code"] == 0, bytes(reader.stderr)
    assert reader.output == b"/usr\na\nb none\nhello\n"
    assert (await run(client, "echo $?; pwd"))[1] == b"9\n/usr\n"
    argv = await client.ask(
        "session.process", session="s", argv=["sh", "-c", 'echo "$v$w"; pwd'], cwd="lib", env={"w": "w"}
    )
    reader = client.call("process.attach", {"id": argv["id"]})
    await reader.result()
    assert reader.output == b"a\nbw\n/usr/lib\n"


async def test_a_process_can_call_a_function_of_its_session(client: Client) -> None:
    await client.ask("session.create", id="s")
    await run(client, "f() { echo f $1; }; shopt -s extglob nullglob")
    await client.ask("session.process", session="s", id="p", command="f 1; echo nothing*; echo $#")
    reader = client.call("process.attach", {"id": "p"})
    await reader.result()
    assert reader.output == b"f 1\n\n0\n"
