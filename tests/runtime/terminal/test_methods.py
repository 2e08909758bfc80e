"""`terminal.*`: ids and instances, concurrent creates, kills, and the retention of exited terminals."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from hawse.wire import Principal
from hawse_runtime.core.registry import Retention
from hawse_runtime.settings import RuntimeLimits
from tests.support.principals import AT_MAIN, VIEWER
from tests.support.runtime import Channel, Client, Served, alive
from tests.support.waiting import exists, lines


async def test_a_terminal_is_described(client: Client, served: Served) -> None:
    created = await client.ask("terminal.create", id="a.b-c_1", cols=100, rows=30, argv=["sleep", "60"])
    assert created.pop("created") is True
    assert created == await client.ask("terminal.get", id="a.b-c_1")
    assert created["argv"] == ["sleep", "60"]
    assert created["cwd"] == str(served.workspace)
    assert (created["cols"], created["rows"]) == (100, 30)
    assert (created["state"], created["exit"], created["viewers"]) == ("running", None, 0)
    assert (created["start"], created["offset"]) == (0, 0)
    assert (await client.ask("terminal.list"))["terminals"] == [created]


async def test_the_default_command_is_the_users_shell(client: Client) -> None:
    created = await client.ask("terminal.create")
    assert created["id"].startswith("t-")
    assert (created["cols"], created["rows"]) == (80, 24)
    assert created["argv"][0].endswith("sh")
    shell = client.attach(created["id"], input="i")
    shell.send(b"echo $TERM; exit 6\n")
    assert (await shell.result())["exit"]["code"] == 6
    assert b"xterm-256color" in shell.output


async def test_concurrent_creates_of_one_id_start_one_program(served: Served) -> None:
    clients = [await served.client() for _ in range(5)]
    calls = [client.call("terminal.create", {"id": "t", "argv": ["sleep", "60"]}) for client in clients * 10]
    results = [await call.result() for call in calls]
    assert sum(result["created"] for result in results) == 1
    assert len({(result["pid"], result["instance"]) for result in results}) == 1
    assert served.started_children() == {results[0]["pid"]}
    for client in clients:
        await client.cut()


async def test_the_exit_follows_the_last_bytes_and_the_next_create_starts_a_new_shell(client: Client) -> None:
    instances = set()
    for round_ in range(40):
        shell = await client.terminal(f"echo last words {round_}; exit {round_}")
        assert await shell.event("exit") == {"code": round_, "signal": None, "timed_out": False, "oom": None}
        result = await shell.result()
        assert result["exit"]["code"] == round_
        assert shell.output == b"last words %d\r\n" % round_
        assert result["offset"] == len(shell.output)
        instances.add((await shell.event("opened"))["instance"])
    assert len(instances) == 40


async def test_an_exited_terminal_stays_readable_until_it_is_replaced(client: Client) -> None:
    first = await client.terminal("echo one; exit 3")
    await first.result()
    late = client.attach("t")
    assert (await late.result())["exit"]["code"] == 3
    assert late.output == b"one\r\n"
    instance = (await late.event("opened"))["instance"]
    await client.ask("terminal.create", id="t", argv=["sleep", "60"])
    assert (await client.refused("terminal.attach", id="t", instance=instance)).code == "stale_handle"


async def test_an_ended_terminal_says_when_it_ended(client: Client) -> None:
    await (await client.terminal("exit")).result()
    info = await client.ask("terminal.get", id="t")
    assert info["started"] <= info["ended"] <= time.time()


async def test_the_viewers_of_all_terminals_are_listed_as_far_as_the_caller_may_see_them(client: Client) -> None:
    for name in ("main", "other"):
        await client.ask("terminal.create", id=name, argv=["cat"])
        for number in range(150 if name == "other" else 1):
            await client.attach(name, viewer={"key": f"k{number}", "name": f"N{number}"}).event("opened")
    found = await client.ask("terminal.viewers")
    assert (len(found["viewers"]), found["total"]) == (151, 151)
    assert (found["viewers"][0]["terminal"], found["viewers"][0]["viewer"]["name"]) == ("main", "N0")
    await client.ask("terminal.presence", id="main", viewer="k0", view="editor~path~secret")
    limited = await client.call("terminal.viewers", {}, principal=AT_MAIN).result()
    assert [(each["terminal"], each["viewer"]["view"]) for each in limited["viewers"]] == [("main", "")]
    for number in range(150, 200):
        await client.attach("other", viewer={"key": f"k{number}"}).event("opened")
    found = await client.ask("terminal.viewers")
    assert (len(found["viewers"]), found["total"]) == (200, 201)


async def test_the_number_of_exited_terminals_kept_is_bounded(client: Client, served: Served) -> None:
    served.runtime.terminals.registry.retention = Retention(3)
    for number in range(6):
        await (await client.terminal("exit", f"t{number}")).result()
    assert [t["id"] for t in (await client.ask("terminal.list"))["terminals"]] == ["t3", "t4", "t5"]


async def test_the_number_of_running_terminals_is_limited(client: Client, served: Served) -> None:
    served.runtime.terminals.registry.limit = 1
    await client.ask("terminal.create", id="a", argv=["sleep", "60"])
    error = await client.refused("terminal.create", id="b", argv=["sleep", "60"])
    assert (error.code, error.retryable) == ("limit_exceeded", True)
    assert (await client.ask("terminal.create", id="a"))["created"] is False


WRONG_SIZES: list[Any] = [0, -1, 1001, 10**9, 10**30, "80", 1.5, [], True]


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("terminal.create", {"argv": ["no-such-program"]}, "spawn_failed"),
        ("terminal.create", {"cwd": "no/such"}, "spawn_failed"),
        ("terminal.create", {"argv": ["sh", "a\0b"]}, "invalid_params"),
        ("terminal.create", {"env": {"A": "b\0"}}, "invalid_params"),
        ("terminal.create", {"argv": ["true", "x" * 200_000]}, "too_large"),
        *(("terminal.create", {"cols": wrong}, "invalid_params") for wrong in WRONG_SIZES),
        *(("terminal.create", {"rows": wrong}, "invalid_params") for wrong in WRONG_SIZES),
        *(("terminal.resize", {"id": "t", "cols": wrong, "rows": 1}, "invalid_params") for wrong in WRONG_SIZES),
        ("terminal.resize", {"id": "missing", "cols": 1, "rows": 1}, "not_found"),
        ("terminal.attach", {"id": "missing"}, "not_found"),
        ("terminal.attach", {"id": "t", "since": 10**30}, "invalid_params"),
        ("terminal.attach", {"id": "t", "since": -1}, "invalid_params"),
        ("terminal.attach", {"id": "t", "input": ""}, "invalid_params"),
        ("terminal.attach", {"id": "t", "instance": "other"}, "stale_handle"),
        ("terminal.get", {"id": "missing"}, "not_found"),
        ("terminal.get", {"id": "t", "instance": "other"}, "stale_handle"),
        ("terminal.get", {}, "invalid_params"),
        ("terminal.signal", {"id": "missing", "signal": "INT"}, "not_found"),
        ("terminal.signal", {"id": "t", "signal": "NOPE"}, "invalid_params"),
        ("terminal.signal", {"id": "t", "signal": 4711}, "invalid_params"),
        ("terminal.signal", {"id": "t", "signal": 10**30}, "invalid_params"),
        ("terminal.kill", {"id": "missing"}, "not_found"),
        ("terminal.kill", {"id": "t", "instance": "other"}, "stale_handle"),
        ("terminal.kill", {"id": "t", "grace": 1e9}, "invalid_params"),
    ],
)
async def test_invalid_requests_are_refused_with_typed_errors(
    client: Client, served: Served, method: str, params: dict[str, Any], code: str
) -> None:
    await client.ask("terminal.create", id="t", argv=["sleep", "60"])
    assert (await client.refused(method, params)).code == code
    assert (await client.info())["terminals"] == 1
    assert len(served.started_children()) == 1


async def test_a_kill_ends_all_processes_of_a_terminal(client: Client, tmp_path: Path) -> None:
    script = (
        f"setsid sh -c 'trap \"\" HUP TERM; echo $$ > {tmp_path}/away; while :; do sleep 60; done' & "
        f"nohup sh -c 'echo $$ > {tmp_path}/near; exec sleep 60' >/dev/null 2>&1 & trap '' HUP; echo $$; wait; sleep 60"
    )
    shell = await client.terminal(script)
    files = [tmp_path / name for name in ("away", "near")]
    await lines(*files)
    await shell.until(lambda: b"\n" in shell.output)  # its shell ignores HUP
    result = await client.ask("terminal.kill", id="t", grace=0.05)
    assert result["exit"]["signal"] == "SIGKILL"
    assert not any(alive(int(file.read_text())) for file in files)
    assert (await shell.result())["exit"] == result["exit"]
    assert await client.ask("terminal.kill", id="t") == result


async def test_a_kill_ends_a_daemon_also_after_the_shell_has_exited(client: Client, tmp_path: Path) -> None:
    daemon = f"trap '' HUP TERM; echo up > {tmp_path}/up; while :; do sleep 60; done"
    shell = await client.terminal(f'setsid sh -c \'(exec sh -c "$0") & echo $! > {tmp_path}/pid\' "{daemon}"; exit 3')
    assert (await shell.result())["exit"]["code"] == 3
    await exists(tmp_path / "up")
    pid = int((tmp_path / "pid").read_text())
    assert alive(pid)
    assert (await client.ask("terminal.kill", id="t", grace=0))["exit"]["code"] == 3
    assert not alive(pid)


async def test_a_signal_reaches_the_foreground_and_is_refused_after_the_exit(client: Client) -> None:
    shell = await client.terminal("trap 'echo usr1' USR1; echo ready; while :; do sleep 0.01; done")
    await shell.seen(b"ready")
    await client.ask("terminal.signal", id="t", signal="usr1")
    await shell.seen(b"usr1")
    await client.ask("terminal.signal", id="t", signal="INT")
    await shell.result()
    assert (await client.refused("terminal.signal", id="t", signal="INT")).code == "exited"


async def test_a_resize_returns_the_size_in_effect(client: Client) -> None:
    await client.terminal("sleep 60")
    assert await client.ask("terminal.resize", id="t", cols=1000, rows=1) == {"cols": 1000, "rows": 1}
    await client.ask("terminal.kill", id="t", grace=0)
    assert await client.ask("terminal.resize", id="t", cols=10, rows=10) == {"cols": 1000, "rows": 1}


async def test_a_viewer_that_claims_the_size_decides_it_in_place_of_the_one_that_typed(client: Client) -> None:
    await client.ask("terminal.create", id="t", argv=["cat"])
    typing = client.attach("t", input="i", viewer={"key": "a"}, cols=100, rows=30)
    await typing.event("opened")
    typing.send(b"x")
    await typing.seen(b"x")
    other = client.attach("t", viewer={"key": "b"}, cols=80, rows=20)
    await other.event("opened")
    await client.ask("terminal.resize", id="t", viewer="b", cols=70, rows=20)
    assert (await client.ask("terminal.get", id="t"))["cols"] == 100
    await client.ask("terminal.resize", id="t", viewer="b", cols=70, rows=20, claim=True)
    await other.until(lambda: any(each.name == "resized" and each.value["cols"] == 70 for each in other.events))


async def test_a_repeated_create_with_a_key_returns_the_same_result(client: Client, served: Served) -> None:
    first = await client.ask("terminal.create", {"argv": ["sleep", "60"]}, key="k")
    assert await client.ask("terminal.create", {"argv": ["sleep", "60"]}, key="k") == first
    assert len(served.started_children()) == 1


async def test_killing_a_terminal_that_is_exiting_succeeds(client: Client) -> None:
    async with asyncio.timeout(20):
        for number in range(20):
            await client.ask("terminal.create", id=f"t{number}", argv=["true"])
            assert "exit" in await client.ask("terminal.kill", id=f"t{number}", grace=0)


async def test_the_viewer_role_receives_output_and_its_input_is_forbidden(client: Client) -> None:
    owner = await client.terminal("echo ready; exec cat")
    await owner.seen(b"ready")
    looking = client.call("terminal.attach", {"id": "t", "input": "theirs", "emulator": True}, principal=VIEWER)
    opened = await looking.event("opened")
    assert (opened["read_only"], opened["answers"], opened["input_offset"]) == (True, False, 0)
    await looking.seen(b"ready")
    looking.send(b"rm -rf /\n")
    assert (await looking.refusal()).code == "forbidden"
    await owner.type(b"mine\n")
    await owner.seen(b"mine")
    assert b"rm" not in owner.output


async def test_a_writer_at_one_terminal_types_there_and_sees_no_other(client: Client) -> None:
    await client.ask("terminal.create", id="main", argv=["cat"])
    await client.ask("terminal.create", id="other", argv=["cat"])
    writer = client.call("terminal.attach", {"id": "main", "input": "i"}, principal=AT_MAIN)
    assert not (await writer.event("opened"))["read_only"]
    writer.send(b"typed\n")
    await writer.seen(b"typed")
    listed = await client.call("terminal.list", {}, principal=AT_MAIN).result()
    assert [each["id"] for each in listed["terminals"]] == ["main"]
    for method in ("terminal.attach", "terminal.get", "terminal.screen"):
        assert (await client.call(method, {"id": "other"}, principal=AT_MAIN).refusal()).code == "forbidden"
    for method, params in (("terminal.kill", {"id": "main"}), ("exec", {"argv": ["true"]}), ("terminal.create", {})):
        assert (await client.call(method, params, principal=AT_MAIN).refusal()).code == "forbidden"


async def test_an_owner_may_attach_read_only(client: Client) -> None:
    await client.terminal("exec cat")
    looking = client.attach("t", input="i", read_only=True)
    assert (await looking.event("opened"))["read_only"]
    looking.send(b"x")
    error = await looking.refusal()
    assert (error.code, error.details) == ("forbidden", {"applied": 0})


async def test_a_viewer_cannot_make_the_program_wait_for_it(served: Served, client: Client) -> None:
    await client.terminal("exec cat")
    looking = client.call("terminal.attach", {"id": "t", "input": "i", "lossless": True}, principal=VIEWER)
    await looking.event("opened")
    terminal = served.runtime.terminals.get("t")
    assert [viewer.lossless for viewer in terminal.viewers] == [False, False]


@pytest.mark.parametrize("limits", [RuntimeLimits(terminals_of_each=1)])
async def test_a_user_creates_as_many_running_terminals_as_its_limit_says(client: Client) -> None:
    user = Principal(id="ada", name="", kind="user", rights=("operate",))

    def create(id: str) -> Channel:
        return client.call("terminal.create", {"id": id, "argv": ["cat"]}, principal=user)

    await create("a").result()
    refused = await create("b").refusal()
    assert (refused.code, refused.details) == ("limit_exceeded", None)
    await create("a").result()  # it is running already
    for id in ("b", "c"):
        await client.ask("terminal.create", id=id, argv=["cat"])
    await client.ask("terminal.kill", id="a")
    await create("d").result()
