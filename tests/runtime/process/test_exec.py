"""`exec`: a key runs once, its repeats resume it, and the output of ended commands is bounded."""

import gc

import pytest

from hawse.rpc.idempotency import IdempotencyLimits
from hawse_runtime.journal.journal import LEAST_CAPACITY, Journal
from hawse_runtime.journal.limits import FlowLimits, JournalLimits
from hawse_runtime.process.process import Process, ProcessLimits
from hawse_runtime.settings import RuntimeLimits
from tests.support import processes
from tests.support.runtime import Client, Served, alive


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
        assert 0 < result["duration"] < 600
        assert result | {"duration": None} == {
            "code": 5,
            "signal": None,
            "timed_out": False,
            "oom": None,
            "stdout": 8,
            "stderr": 4,
            "truncated": False,
            "duration": None,
        }
        assert second.output == b"e\ntwo\n"
        assert second.stderr == b"err\n"
        third = client.call("exec", {**params, "since": {"stdout": 4, "stderr": None}}, key="k")
        assert await third.result() == result
        assert third.output == b"two\n"
        assert third.stderr == b"err\n"
        conflict = await client.refused("exec", params | {"command": "echo other"}, key="k")
        assert conflict.code == "key_conflict"
        assert (await client.refused("process.start", {"command": "true"}, key="k")).code == "key_conflict"


@pytest.mark.parametrize("limits", [RuntimeLimits(idempotency=IdempotencyLimits(outcomes=2))])
async def test_a_key_whose_outcome_is_no_longer_kept_never_runs_again(client: Client, served: Served) -> None:
    for number in range(4):
        await client.execute(f"echo {number} >> ran", key=f"k{number}").result()
    assert (await client.execute("echo 0 >> ran", key="k0").refusal()).code == "outcome_unknown"
    assert (served.workspace / "ran").read_text() == "0\n1\n2\n3\n"


@pytest.mark.parametrize(
    "limits", [RuntimeLimits(idempotency=IdempotencyLimits(outcomes=2), programs=ProcessLimits(ended_execs=1))]
)
async def test_commands_whose_outcomes_are_no_longer_kept_are_freed_without_the_garbage_collector(
    client: Client,
) -> None:
    def kept() -> int:
        return sum(isinstance(each, Process | Journal) for each in gc.get_objects())

    counts = []
    gc.collect()
    gc.disable()
    try:
        for number in range(12):
            await client.execute("echo", key=f"k{number}").result()
            counts.append(kept())
    finally:
        gc.enable()
    assert max(counts[4:]) <= max(counts[:4])


@pytest.mark.parametrize("limits", [RuntimeLimits(programs=ProcessLimits(ended_execs=1))])
async def test_old_outcomes_keep_only_the_end_of_their_output(client: Client) -> None:
    old = client.execute("seq 10000", key="old")
    result = await old.result()
    await client.execute("true", key="new").result()
    again = client.execute("seq 10000", key="old")
    assert await again.result() == result
    start = (await again.event("opened"))["from"]["stdout"]
    assert 0 < start < result["stdout"]
    assert again.output == old.output[start:]


async def test_the_program_of_a_keyed_exec_waits_while_its_connection_is_lost(served: Served) -> None:
    """No output is lost: the program is paused until the repeat reads on."""
    script = "head -c 12000000 /dev/zero"
    async with served.client() as client:
        first = client.execute(script, key="k", generous=False)
        await first.until(lambda: len(first.output) > 500_000)
    taken = len(first.output)
    (process,) = served.runtime.execs.registry.running
    await processes.until(process, lambda: process.stdout.pacer.paused)
    async with served.client() as client:
        second = client.execute(script, key="k", since={"stdout": taken})
        assert (await second.event("opened"))["from"]["stdout"] == taken
        assert (await second.result())["stdout"] == 12_000_000 == taken + len(second.output)


@pytest.mark.parametrize("limits", [RuntimeLimits(journals=JournalLimits(flow=FlowLimits(hold_timeout=0.02)))])
async def test_a_held_position_is_released_after_the_timeout(served: Served) -> None:
    async with served.client() as client:
        first = client.execute("head -c 30000000 /dev/zero", key="k", generous=False)
        await first.until(lambda: len(first.output) > 100_000)
        (process,) = served.runtime.execs.registry.running
    async with served.client() as client:
        await processes.exited(process)
        again = client.execute("head -c 30000000 /dev/zero", key="k", since={"stdout": len(first.output)})
        assert (await again.event("opened"))["from"]["stdout"] > len(first.output)
        assert (await again.result())["stdout"] == 30_000_000


async def test_a_command_without_a_key_gets_eof_when_its_call_closes(served: Served) -> None:
    async with served.client() as client:
        reads = client.execute("cat >/dev/null; echo done > done", stdin=True, input="i")
        prints = client.execute("head -c 30000000 /dev/zero; echo done > printed", generous=False)
        for call in (reads, prints):
            await call.event("opened")
        running = served.runtime.execs.registry.running
    await processes.exited(*running)
    assert (served.workspace / "done").exists()
    assert (served.workspace / "printed").exists()


@pytest.mark.parametrize("limits", [RuntimeLimits(programs=ProcessLimits(stdin_timeout=2.0))])
async def test_the_stdin_of_a_keyed_command_stays_open_for_a_limited_time(served: Served) -> None:
    params = {"command": "cat > got; echo done > done", "stdin": True, "input": "i"}
    async with served.client() as client:
        first = client.call("exec", params, key="k")
        first.send(b"a")
        await first.until(lambda: first.granted == 1)
    async with served.client() as client:
        second = client.call("exec", params, key="k")
        assert (await second.event("opened"))["input_offset"] == 1
        second.send(b"b", offset=1)
        await second.until(lambda: second.granted == 1)
        running = served.runtime.execs.registry.running
    await processes.exited(*running)
    assert (served.workspace / "got").read_bytes() == b"ab"
    assert (served.workspace / "done").exists()


async def test_a_reader_that_is_slow_loses_nothing_when_many_others_start(client: Client) -> None:
    slow = client.call("exec", {"command": "yes | head -c 3000000; echo end"}, key="k", window=1000, generous=False)
    await slow.until(lambda: len(slow.output) > 0)
    many = [client.execute("cat", stdin=True, input="i") for _ in range(300)]
    for call in many:
        await call.event("opened")
    slow.generous = True
    slow.grant(1 << 20)
    await slow.result()
    assert slow.output == b"y\n" * 1_500_000 + b"end\n"
    for call in many:
        call.end()
    for call in many:
        await call.result()


@pytest.mark.parametrize("limits", [RuntimeLimits(journals=JournalLimits(total=8 * LEAST_CAPACITY))])
async def test_the_journals_of_ended_commands_make_room_for_those_of_new_ones(client: Client) -> None:
    for number in range(20):
        assert (await client.execute("echo hi", key=f"k{number}").result())["code"] == 0


async def test_a_command_that_runs_is_listed_and_can_be_ended_by_its_id(client: Client) -> None:
    await client.ask("process.start", id="p", command="sleep 60")
    calls = [
        client.call("exec", {"command": f"exec sleep 6{number}"}, key=key) for number, key in enumerate((None, "k"))
    ]
    opened = [await call.event("opened") for call in calls]
    listed = (await client.ask("process.list"))["processes"]
    assert [process["id"] for process in listed] == ["p", *(event["id"] for event in opened)]
    assert len({event["id"] for event in opened}) == 2
    assert (await client.ask("process.get", id=opened[0]["id"]))["pid"] == opened[0]["pid"]
    page = await client.ask("process.list", after="p", limit=1)
    assert ([process["id"] for process in page["processes"]], page["more"]) == ([opened[0]["id"]], True)
    for call, event in zip(calls, opened, strict=True):
        call.cancel()  # the client gives up; the command continues
        await call.refusal()
        assert alive(event["pid"])
        assert (await client.refused("process.kill", id=event["id"], instance="other")).code == "stale_handle"
        killed = await client.ask("process.kill", id=event["id"], instance=event["instance"])
        assert killed["exit"]["signal"] == "SIGTERM"
        assert not alive(event["pid"])
        assert (await client.refused("process.kill", id=event["id"])).code == "not_found"
    rest = await client.ask("process.list", after=opened[0]["id"])
    assert (rest["processes"], rest["more"]) == ([], False)


async def test_the_output_of_a_running_command_can_be_read_by_its_id(client: Client) -> None:
    call = client.call("exec", {"command": "echo one; read x; echo two", "stdin": True, "input": "i"})
    await call.seen(b"one\n")
    reader = client.call("process.attach", {"id": (await call.event("opened"))["id"]})
    await reader.seen(b"one\n")
    call.send(b"\n")
    assert (await reader.result())["exit"]["code"] == 0
    assert reader.output == b"one\ntwo\n"
