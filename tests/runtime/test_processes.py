"""`process.*` and `exec`: ids, keys, kills, and what is kept of what has ended."""

from pathlib import Path
from typing import Any

import pytest

from runtime import outcomes, pace, processes
from tests.runtime.support import Client, Served, alive, eventually


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
        ("process.attach", {"id": "nobody"}, "not_found"),
        ("process.get", {"id": "nobody"}, "not_found"),
        ("process.kill", {"id": "nobody"}, "not_found"),
        ("process.signal", {"id": "nobody", "signal": "INT"}, "not_found"),
        ("process.kill", {"id": "nobody", "grace": -1}, "invalid_params"),
    ],
)
async def test_what_cannot_be_done_is_a_typed_error_and_nothing_is_started(
    client: Client, method: str, params: dict[str, Any], code: str
) -> None:
    assert (await client.refused(method, params)).code == code
    assert (await client.info())["processes"] == 0


async def test_there_is_a_limit(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "RUNNING_LIMIT", 2)
    client.execute("sleep 60")
    await client.ask("process.start", command="sleep 60")
    assert (await client.refused("process.start", command="true")).code == "limit_exceeded"
    assert (await client.refused("exec", command="true")).code == "limit_exceeded"


async def test_a_kill_answers_when_nothing_is_left(client: Client, tmp_path: Path) -> None:
    script = (
        f"setsid sh -c 'trap \"\" TERM; echo $$ > {tmp_path}/away; while :; do sleep 60; done' & "
        f"sh -c 'echo $$ > {tmp_path}/near; exec sleep 60' & while :; do sleep 60; done"
    )
    started = await client.ask("process.start", id="p", command=script)
    files = [tmp_path / name for name in ("away", "near")]
    await eventually(lambda: all(file.exists() and file.read_text() for file in files))
    assert await client.ask("process.kill", id="p", grace=0.05) == {
        "exit": {"code": None, "signal": "SIGTERM", "timed_out": False, "oom": None}
    }
    assert not any(alive(pid) for pid in (started["pid"], *(int(file.read_text()) for file in files)))
    assert (await client.ask("process.kill", id="p"))["exit"]["signal"] == "SIGTERM", "again: it is gone"


async def test_a_kill_may_begin_with_another_signal(client: Client) -> None:
    await client.ask("process.start", id="p", command="trap 'exit 9' HUP; echo r; while :; do sleep 0.01; done")
    reader = client.call("process.attach", {"id": "p"})
    await reader.seen(b"r\n")
    assert (await client.ask("process.kill", id="p", signal="HUP"))["exit"]["code"] == 9


async def test_ended_ones_stay_readable_in_a_bounded_number(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "EXITED_KEPT", 3)
    for number in range(5):
        await client.ask("process.start", id=f"p{number}", command=f"echo {number}")
        await client.call("process.attach", {"id": f"p{number}"}).result()
    assert [p["id"] for p in (await client.ask("process.list"))["processes"]] == ["p2", "p3", "p4"]


async def test_a_keyed_exec_runs_once_and_its_repeat_resumes_while_it_runs_and_afterwards(served: Served) -> None:
    params = {"command": "echo one; read x; echo two; echo err >&2; exit 5", "stdin": True}
    async with served.client() as client:
        first = client.call("exec", {**params, "input": "i"}, key="k")
        await first.seen(b"one\n")
    async with served.client() as client:
        second = client.call("exec", {**params, "input": "i", "since": {"stdout": 2}}, key="k")
        assert (await second.event("opened"))["from"] == {"stdout": 2, "stderr": 0}
        second.send(b"\n")
        result = await second.result()
        assert result == {"code": 5, "signal": None, "timed_out": False, "oom": None, "stdout": 8, "stderr": 4}
        assert second.output == b"e\ntwo\n"
        assert second.stderr == b"err\n"
        third = client.call("exec", {**params, "since": {"stdout": 4, "stderr": None}}, key="k")
        assert await third.result() == result
        assert third.output == b"two\n"
        assert third.stderr == b"err\n"
        conflict = await client.refused("exec", params | {"command": "echo other"}, key="k")
        assert conflict.code == "key_conflict"
        assert (await client.refused("process.start", {"command": "true"}, key="k")).code == "key_conflict"


async def test_a_key_whose_outcome_is_forgotten_never_runs_again(
    client: Client, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outcomes, "KEPT", 2)
    for number in range(4):
        await client.execute(f"echo {number} >> ran", key=f"k{number}").result()
    assert (await client.execute("echo 0 >> ran", key="k0").refusal()).code == "outcome_unknown"
    assert (served.workspace / "ran").read_text() == "0\n1\n2\n3\n"


async def test_old_outcomes_keep_the_end_of_their_output_only(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "EXITED_KEPT", 1)
    old = client.execute("seq 10000", key="old")
    result = await old.result()
    await client.execute("true", key="new").result()
    again = client.execute("seq 10000", key="old")
    assert await again.result() == result
    start = (await again.event("opened"))["from"]["stdout"]
    assert 0 < start < result["stdout"]
    assert again.output == old.output[start:]


async def test_the_output_of_a_keyed_exec_waits_for_its_caller(served: Served) -> None:
    """`lossless`: what was printed while the line was cut is all there, and the program was held back for it."""
    script = "head -c 12000000 /dev/zero"
    async with served.client() as client:
        first = client.execute(script, key="k", generous=False)
        await first.until(lambda: len(first.output) > 500_000)
    taken = len(first.output)
    (process,) = served.runtime._processes._execs
    await eventually(lambda: process.stdout.pacer.paused)
    async with served.client() as client:
        second = client.execute(script, key="k", since={"stdout": taken})
        assert (await second.event("opened"))["from"]["stdout"] == taken
        assert (await second.result())["stdout"] == 12_000_000 == taken + len(second.output)


async def test_a_place_is_given_up_in_the_end(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "HOLD", 0.02)
    async with served.client() as client:
        first = client.execute("head -c 30000000 /dev/zero", key="k", generous=False)
        await first.until(lambda: len(first.output) > 100_000)
    async with served.client() as client:
        await eventually(lambda: not served.runtime._processes._execs)
        again = client.execute("head -c 30000000 /dev/zero", key="k", since={"stdout": len(first.output)})
        assert (await again.event("opened"))["from"]["stdout"] > len(first.output)
        assert (await again.result())["stdout"] == 30_000_000


async def test_an_exec_without_a_key_whose_caller_is_gone_ends_by_itself(served: Served) -> None:
    async with served.client() as client:
        reads = client.execute("cat >/dev/null; echo done > done", stdin=True, input="i")
        prints = client.execute("head -c 30000000 /dev/zero; echo done > printed", generous=False)
        for call in (reads, prints):
            await call.event("opened")
    await eventually(lambda: not served.runtime._processes._execs)
    assert (served.workspace / "done").exists()
    assert (served.workspace / "printed").exists()


async def test_a_command_without_bash_runs_in_sh(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "SHELLS", ("/no/such/bash", "/bin/sh"))
    started = await client.ask("process.start", command="true")
    assert started["argv"][0] == "/bin/sh"
