"""`process.*` and `exec`: ids, errors, kills, and the retention of ended processes."""

from pathlib import Path
from typing import Any

import pytest

from hawse_runtime.core.registry import Retention
from hawse_runtime.settings import RuntimeLimits
from tests.support.runtime import Client, Served, alive
from tests.support.waiting import lines


async def test_a_process_is_described_from_its_start_to_its_end(client: Client, served: Served) -> None:
    started = await client.ask("process.start", command="cat; exit 4", stdin=True, env={"A": "b"})
    assert started["id"].startswith("p-")
    assert started["state"] == "running"
    assert started["cwd"] == str(served.workspace)
    assert started["argv"][1:] == ["-c", "cat; exit 4"]
    reader = client.call("process.attach", {"id": started["id"], "input": "i"})
    reader.end()
    await reader.result()
    ended = await client.ask("process.get", id=started["id"])
    assert ended["state"] == "exited"
    assert ended["exit"] == {"code": 4, "signal": None, "timed_out": False, "oom": None}
    assert (await client.ask("process.list"))["processes"] == [ended]


async def test_a_running_id_is_a_conflict_and_an_ended_one_is_replaced(client: Client) -> None:
    first = await client.ask("process.start", id="p", command="sleep 60")
    assert (await client.refused("process.start", id="p", command="true")).code == "conflict"
    await client.ask("process.kill", id="p", grace=0)
    second = await client.ask("process.start", id="p", command="sleep 60")
    assert second["instance"] != first["instance"]
    stale = await client.refused("process.attach", id="p", instance=first["instance"])
    assert stale.code == "stale_handle"


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("process.start", {}, "invalid_params"),
        ("process.start", {"argv": ["true"], "command": "true"}, "invalid_params"),
        ("process.start", {"argv": ["no-such-program"]}, "spawn_failed"),
        ("process.start", {"argv": ["true"], "cwd": "no/such"}, "spawn_failed"),
        ("process.start", {"argv": ["true", "a\0b"]}, "invalid_params"),
        ("process.start", {"argv": ["true"], "env": {"A=B": "c"}}, "invalid_params"),
        ("process.start", {"argv": ["true"], "timeout": 0}, "invalid_params"),
        ("process.start", {"argv": ["true"], "timeout": -1}, "invalid_params"),
        ("exec", {}, "invalid_params"),
        ("exec", {"argv": ["no-such-program"]}, "spawn_failed"),
        ("exec", {"command": "true", "since": {"stdout": 1}}, "invalid_params"),
        ("process.attach", {"id": "missing"}, "not_found"),
        ("process.get", {"id": "missing"}, "not_found"),
        ("process.kill", {"id": "missing"}, "not_found"),
        ("process.signal", {"id": "missing", "signal": "INT"}, "not_found"),
        ("process.kill", {"id": "missing", "grace": -1}, "invalid_params"),
    ],
)
async def test_an_invalid_call_is_a_typed_error_and_starts_no_process(
    client: Client, method: str, params: dict[str, Any], code: str
) -> None:
    assert (await client.refused(method, params)).code == code
    assert (await client.info())["processes"] == 0


async def test_a_kill_answers_when_no_process_of_the_tree_is_left(client: Client, tmp_path: Path) -> None:
    script = (
        f"setsid sh -c 'trap \"\" TERM; echo $$ > {tmp_path}/away; while :; do sleep 60; done' & "
        f"sh -c 'echo $$ > {tmp_path}/near; exec sleep 60' & while :; do sleep 60; done"
    )
    started = await client.ask("process.start", id="p", command=script)
    files = [tmp_path / name for name in ("away", "near")]
    await lines(*files)
    assert await client.ask("process.kill", id="p", grace=0.05) == {
        "exit": {"code": None, "signal": "SIGTERM", "timed_out": False, "oom": None}
    }
    assert not any(alive(pid) for pid in (started["pid"], *(int(file.read_text()) for file in files)))
    assert (await client.ask("process.kill", id="p"))["exit"]["signal"] == "SIGTERM", (
        "a kill of an ended process returns its exit"
    )


async def test_a_kill_may_begin_with_another_signal(client: Client) -> None:
    await client.ask("process.start", id="p", command="trap 'exit 9' HUP; echo r; while :; do sleep 0.01; done")
    reader = client.call("process.attach", {"id": "p"})
    await reader.seen(b"r\n")
    assert (await client.ask("process.kill", id="p", signal="HUP"))["exit"]["code"] == 9


@pytest.mark.parametrize("limits", [RuntimeLimits(processes=Retention(count=3))])
async def test_ended_processes_stay_readable_in_a_bounded_number(client: Client) -> None:
    for number in range(5):
        await client.ask("process.start", id=f"p{number}", command=f"echo {number}")
        await client.call("process.attach", {"id": f"p{number}"}).result()
    assert [p["id"] for p in (await client.ask("process.list"))["processes"]] == ["p2", "p3", "p4"]


async def test_a_process_has_the_time_of_its_end_and_its_session(client: Client) -> None:
    await client.ask("session.create", id="s")
    await client.ask("session.create", id="other")
    inside = await client.ask("session.process", session="s", id="inside", command="sleep 1000")
    await client.ask("session.process", session="other", id="beside", command="sleep 1000")
    await client.ask("process.start", id="outside", command="sleep 1000")
    assert (inside["session"], inside["ended"]) == ("s", None)

    async def listed(**params: Any) -> list[tuple[str, str | None]]:
        found = (await client.ask("process.list", **params))["processes"]
        return [(process["id"], process["session"]) for process in found]

    assert await listed() == [("inside", "s"), ("beside", "other"), ("outside", None)]
    assert await listed(session="s") == [("inside", "s")]
    assert await listed(session="missing") == []
    for number in range(4):
        await client.ask("session.process", session="s", id=f"p{number}", command="sleep 1000")
    page = await client.ask("process.list", session="s", limit=2, after="inside")
    assert ([process["id"] for process in page["processes"]], page["more"]) == (["p0", "p1"], True)
    rest = await client.ask("process.list", session="s", limit=2, after="p1")
    assert ([process["id"] for process in rest["processes"]], rest["more"]) == (["p2", "p3"], False)
    await client.ask("process.kill", id="inside", grace=0)
    ended = await client.ask("process.get", id="inside")
    assert ended["ended"] >= ended["started"] == inside["started"]


async def test_all_processes_are_killed_or_those_of_a_session(client: Client, tmp_path: Path) -> None:
    await client.ask("session.create", id="s")
    await client.ask("session.process", session="s", id="inside", command="sleep 1000")
    await client.ask("process.start", id="outside", command=f"sleep 1000 & echo $! > {tmp_path}/child; wait")
    await lines(tmp_path / "child")
    child = (tmp_path / "child").read_text()
    command = client.execute("sleep 1000")
    await command.event("opened")
    assert await client.ask("process.killall", session="s", grace=0) == {"killed": 1}
    assert (await client.ask("process.get", id="outside"))["state"] == "running"
    assert await client.ask("process.killall", signal="KILL") == {"killed": 2}
    assert not alive(int(child))
    assert (await command.result())["signal"] == "SIGKILL"
    assert await client.ask("process.killall") == {"killed": 0}
    assert (await client.ask("session.get", id="s"))["state"] == "running"


async def test_processes_that_have_ended_are_removed(client: Client) -> None:
    await client.ask("session.create", id="s")
    await client.ask("process.start", id="runs", command="sleep 1000")
    for number in range(3):
        ended = await client.ask("process.start", id=f"p{number}", command="true")
        await client.call("process.wait", {"id": ended["id"], "exit": True}).result()
    await client.ask("session.process", session="s", id="inside", command="true")
    await client.call("process.wait", {"id": "inside", "exit": True}).result()
    assert (await client.refused("process.remove", id="runs")).code == "conflict"
    assert (await client.refused("process.remove", id="missing")).code == "not_found"
    assert (await client.refused("process.remove", id="p0", instance="x")).code == "stale_handle"
    assert await client.ask("process.remove", id="p0") == {"removed": 1}
    assert (await client.refused("process.get", id="p0")).code == "not_found"
    assert await client.ask("process.remove", session="s") == {"removed": 1}
    assert [process["id"] for process in (await client.ask("process.list"))["processes"]] == ["runs", "p1", "p2"]
    assert await client.ask("process.remove") == {"removed": 2}
    assert [process["id"] for process in (await client.ask("process.list"))["processes"]] == ["runs"]
