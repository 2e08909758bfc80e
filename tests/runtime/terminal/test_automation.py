"""`terminal.screen`, `.wait`, `.send`, `.history` as calls: what they take, refuse and answer."""

import pytest

from hawse.rpc.shares import Shares
from hawse.wire import Principal
from hawse_runtime.posix.fd_streams import WRITE_LIMIT
from hawse_runtime.screen.emulator import formats
from tests.support.runtime import Client, Served

READY = "stty raw -echo; printf ready; exec cat -v"


async def test_the_screen_is_that_of_all_the_output(client: Client) -> None:
    shell = await client.terminal(r"printf '\033]2;my title\007\033[2;3Hhere'; exec cat", cols=10, rows=3)
    await shell.seen(b"here")
    shown = await client.ask("terminal.screen", id="t")
    assert shown["content"] == "\n  here\n"
    assert (shown["cursor"]["x"], shown["cursor"]["y"]) == (6, 1)
    assert (shown["title"], shown["offset"]) == ("my title", shell.position)
    assert (await client.ask("terminal.get", id="t"))["title"] == "my title"
    assert "here" in (await client.ask("terminal.screen", id="t", format="html"))["content"]


async def test_an_exited_terminal_still_has_a_screen(client: Client) -> None:
    shell = await client.terminal("printf bye")
    await shell.result()
    assert (await client.ask("terminal.screen", id="t"))["content"].startswith("bye\n")


async def test_text_paste_and_keys_are_typed_in_that_order(client: Client) -> None:
    shell = await client.terminal(r"printf '\033[?2004h\033[?1h'; " + READY)
    await shell.seen(b"ready")
    sent = await client.ask("terminal.send", id="t", text="t", paste="p", keys=["up", "ctrl+c", "ctrl+j"])
    await shell.seen(b"^C\n")
    assert shell.output[sent["offset"] :] == b"t^[[200~p^[[201~^[OA^C\n"
    assert sent["bytes"] == 19


async def test_a_send_with_a_key_is_typed_once(client: Client) -> None:
    shell = await client.terminal(READY)
    await shell.seen(b"ready")
    first = await client.ask("terminal.send", id="t", text="once", key="k")
    assert await client.ask("terminal.send", id="t", text="once", key="k") == first
    await client.ask("terminal.send", id="t", text="\n")
    await shell.seen(b"\n")
    assert shell.output == b"readyonce\n"


async def test_input_that_cannot_be_typed_is_refused_as_a_whole(client: Client) -> None:
    shell = await client.terminal("stty raw -echo; printf ready; exec sleep 1000")
    await shell.seen(b"ready")
    assert (await client.refused("terminal.send", id="t", text="x", keys=["nokey"])).code == "invalid_params"
    for _ in range(WRITE_LIMIT // 500_000):
        await client.ask("terminal.send", id="t", text="x" * 500_000)
    assert (await client.refused("terminal.send", id="t", text="x" * 500_000)).code == "input_overflow"
    await client.ask("terminal.kill", id="t", grace=0)
    assert (await client.refused("terminal.send", id="t", text="x")).code == "exited"


async def test_who_holds_the_lease_types_alone(client: Client) -> None:
    await client.ask("terminal.create", id="t", argv=["cat"])
    first = client.attach("t", input="a", viewer={"key": "anna"})
    await first.event("opened")
    await client.ask("terminal.lease", id="t", action="take", viewer="anna")
    assert (await client.refused("terminal.send", id="t", text="x")).code == "lease_held"
    await client.ask("terminal.send", id="t", text="x", viewer="anna")
    await first.seen(b"x")
    assert (await client.refused("terminal.send", id="t", text="x", viewer="missing")).code == "not_found"


async def test_an_answer_is_typed_only_while_its_question_is_open(client: Client) -> None:
    shell = await client.terminal("printf 'Name? '; read x; stty -echo; printf 'Key? '; read y; exec cat")
    question = (await client.ask("terminal.wait", id="t", waiting=True))["waiting"]["since"]
    assert (await client.refused("terminal.send", id="t", text="x", question=question - 1)).code == "conflict"
    await client.ask("terminal.send", id="t", text="Anna\n", question=question)
    refused = await client.refused("terminal.send", id="t", text="Otto\n", question=question)
    assert (refused.code, refused.message) == (
        "conflict",
        "the program of terminal t is no longer waiting for this answer; nothing was typed",
    )
    secret = (await client.ask("terminal.wait", id="t", waiting=True))["waiting"]
    assert secret["prompt"] == "Key?"
    assert (await client.refused("terminal.send", id="t", text="x", question=question)).code == "conflict"
    await client.ask("terminal.send", id="t", text="s3cret\n", question=secret["since"])
    await client.ask("terminal.kill", id="t", grace=0)
    assert b"s3cret" not in shell.output
    assert (await client.refused("terminal.send", id="t", text="x", question=secret["since"])).code == "exited"


@pytest.mark.parametrize("method", ["terminal.screen", "terminal.wait", "terminal.send", "terminal.history"])
async def test_another_instance_and_a_missing_terminal_are_refused(client: Client, method: str) -> None:
    await client.terminal("exec cat")
    params = {"exit": True} if method == "terminal.wait" else {}
    assert (await client.refused(method, params, id="t", instance="other")).code == "stale_handle"
    assert (await client.refused(method, params, id="none")).code == "not_found"


async def test_the_end_of_a_terminal_is_known_after_another_one_took_its_id(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hawse_runtime.terminal.methods.ENDS_KEPT", 2)
    instances = []
    for code in range(4):
        shell = await client.terminal(f"echo {code}; exit {code}")
        await shell.result()
        instances.append((await shell.event("opened"))["instance"])
    ended = await client.ask("terminal.wait", id="t", instance=instances[2], exit=True)
    assert (ended["event"], ended["exit"]["code"], ended["from"], ended["offset"]) == ("exit", 2, 3, 3)
    for params in ({"id": "other", "exit": True}, {"id": "t", "pattern": "x"}):  # ids are what rights are checked for
        error = await client.refused("terminal.wait", instance=instances[2], **params)
        assert error.code in ("stale_handle", "not_found")
    assert (await client.refused("terminal.wait", id="t", instance=instances[0], exit=True)).code == "stale_handle"


async def test_a_wait_requires_a_condition(client: Client) -> None:
    await client.terminal("exec cat")
    assert (await client.refused("terminal.wait", id="t")).code == "invalid_params"
    assert (await client.refused("terminal.wait", id="t", exit=True, since=10**9)).code == "invalid_params"
    assert (await client.refused("terminal.wait", id="t", pattern="(")).details["path"] == "$.pattern"
    assert (await client.refused("terminal.wait", id="t", pattern="x" * 1001)).code == "invalid_params"


async def test_without_marks_the_history_is_empty(client: Client) -> None:
    await client.terminal("exec cat")
    assert await client.ask("terminal.history", id="t") == {"commands": [], "more": False, "reports_commands": False}


async def test_an_exec_does_not_wait_for_the_screens_of_another_caller(client: Client) -> None:
    shell = await client.terminal("seq -f '%06g of many rows' 6000; printf ready; exec cat")
    await shell.seen(b"ready")
    busy = Principal(id="busy", name="busy", kind="guest", rights=("view",))
    params = {"id": "t", "format": "html", "scrollback": 5000}
    screens = [client.call("terminal.screen", params, principal=busy) for _ in range(60)]
    assert (await client.execute("true").result())["code"] == 0
    small = await client.ask("terminal.screen", id="t")
    assert small["content"].endswith("ready")
    assert sum(screen.closed for screen in screens) < 60
    contents = {(await screen.result())["content"] for screen in screens}
    assert len(contents) == 1
    assert "001001 of many rows" in contents.pop()


async def test_a_screen_that_changes_while_it_is_made_is_of_one_moment(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formats, "STEP", 800)  # ten rows
    await client.terminal("i=0; while :; do i=$((i+1)); echo $i; done")
    for _ in range(20):
        shown = await client.ask("terminal.screen", id="t", scrollback=1000)
        numbers = [int(line) for line in shown["content"].split("\n") if line]
        if shown["cursor"]["x"]:
            del numbers[-1:]  # only a part of it has been read from the shell
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers))) if numbers else True
    await client.ask("terminal.kill", id="t", grace=0)


async def test_waits_are_limited_and_viewers_leave_some_to_the_owner(client: Client, served: Served) -> None:
    served.runtime.automation.waits = Shares(8, "waits")
    await client.terminal("exec cat")
    viewer = Principal(id="viewer", name="viewer", kind="guest", rights=("view",))
    params = {"id": "t", "pattern": "never"}
    waits = [client.call("terminal.wait", params, principal=viewer) for _ in range(6)]
    for wait in waits:
        await wait.event("opened")
    assert (await client.call("terminal.wait", params, principal=viewer).refusal()).code == "limit_exceeded"
    await client.call("terminal.wait", params).event("opened")
    waits[0].cancel()
    await waits[0].refusal()
    await client.call("terminal.wait", params, principal=viewer).event("opened")
