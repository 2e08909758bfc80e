"""Who may do what: the table, and that the runtime keeps to it whatever a page or a gateway's client says."""

import pytest

from hawse.wire import HawseError
from runtime.rpc.roles import OWNER, RIGHTS, check
from tests.support.runtime import Client, Served

READING = {
    "recording.get",
    "recording.list",
    "recording.read",
    "recording.watch",
    "terminal.attach",
    "terminal.get",
    "terminal.history",
    "terminal.list",
    "terminal.presence",
    "terminal.screen",
    "terminal.wait",
}


def test_the_table_is_what_was_decided() -> None:
    assert dict(RIGHTS) == {"owner": None, "preview": {"port.connect"}, "viewer": READING}


@pytest.mark.parametrize("role", ["viewer", "", "Owner", "admin"])
def test_what_is_not_in_the_table_is_forbidden(role: str) -> None:
    check(OWNER, "exec")
    with pytest.raises(HawseError, match="forbidden"):
        check(role, "exec")


async def test_a_viewer_is_forbidden_every_method_that_is_not_in_its_row(served: Served, client: Client) -> None:
    methods = served.runtime.server._dispatcher._methods
    assert len(methods) > 20
    for method in set(methods) - READING:
        error = await client.call(method, {}, role="viewer", key="k").refusal()
        assert (method, error.code, error.admitted) == (method, "forbidden", "no")


async def test_a_viewer_sees_everything_and_types_nothing(client: Client) -> None:
    owner = await client.terminal("echo ready; exec cat")
    await owner.seen(b"ready")
    looking = client.call("terminal.attach", {"id": "t", "input": "theirs", "emulator": True}, role="viewer")
    opened = await looking.event("opened")
    assert (opened["read_only"], opened["answers"], opened["input_offset"]) == (True, False, 0)
    await looking.seen(b"ready")
    looking.send(b"rm -rf /\n")
    assert (await looking.refusal()).code == "forbidden"
    await owner.type(b"mine\n")
    await owner.seen(b"mine")
    assert b"rm" not in owner.output


async def test_an_owner_may_choose_to_look_only(client: Client) -> None:
    await client.terminal("exec cat")
    looking = client.attach("t", input="i", read_only=True)
    assert (await looking.event("opened"))["read_only"]
    looking.send(b"x")
    error = await looking.refusal()
    assert (error.code, error.details) == ("forbidden", {"applied": 0})


async def test_a_viewer_cannot_ask_the_program_to_wait_for_it(served: Served, client: Client) -> None:
    await client.terminal("exec cat")
    looking = client.call("terminal.attach", {"id": "t", "input": "i", "lossless": True}, role="viewer")
    await looking.event("opened")
    terminal = served.runtime._terminals.get("t")
    assert [viewer.lossless for viewer in terminal.viewers] == [False, False]
