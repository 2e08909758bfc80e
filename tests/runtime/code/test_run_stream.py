"""Readers of a run: order, resume, several at once, and output that is no longer kept."""

import json
from typing import Any

import pytest

from hawse.code_pool import PoolLimits
from hawse_runtime.code.limits import CodeLimits
from hawse_runtime.journal.limits import JournalLimits
from hawse_runtime.journal.spill import SpillLimits
from hawse_runtime.settings import RuntimeLimits
from tests.support.code import begin, create, end, run
from tests.support.runtime import Channel, Client, Served

pytestmark = pytest.mark.asyncio(loop_scope="module")

MIXED = """
import sys
from IPython.display import display
for n in range(20):
    print(n, flush=True)
    display({"application/json": {"n": n}, "text/plain": "x" * (100_000 if n % 5 == 0 else 10)}, raw=True)
    print("e", n, file=sys.stderr, flush=True)
"""


def since(call: Channel) -> dict[str, int]:
    """Where a reader that has received this much continues."""
    offsets = [event.value["offset"] for event in call.events if "offset" in event.value]
    return {
        "stdout": len(call.output),
        "stderr": len(call.stderr),
        "bundles": len(call.screen),
        "events": offsets[-1] if offsets else 0,
    }


def displays(call: Channel) -> list[Any]:
    return [event.value["data"]["application/json"]["n"] for event in call.events if event.name == "display"]


async def test_output_arrives_in_its_order_and_large_values_as_bytes_before_their_event(client: Client) -> None:
    await create(client)
    call = begin(client, MIXED)
    done = await end(call)
    assert displays(call) == list(range(20))
    for event in call.events:
        if event.name == "display":
            n = event.value["data"]["application/json"]["n"]
            assert event.at == len("".join(f"{i}\n" for i in range(n + 1)))  # exactly after its own line
            assert bool(event.value.get("large")) == (n % 5 == 0)
    large = [value for display in done.named("display") for value in display.get("large", [])]
    assert [(value["type"], value["offset"], value["size"], value["form"]) for value in large] == [
        ("text/plain", 100_000 * n, 100_000, "text") for n in range(4)
    ]
    assert done.bundles == b"x" * 400_000


async def test_a_run_resumes_exactly_at_any_point_also_for_a_second_reader(served: Served, client: Client) -> None:
    await create(client)
    call = begin(client, MIXED, key="once")
    done = await end(call)
    whole = (done.stdout, done.stderr, done.bundles)
    for events in (0, 1, 7, 15, 20):
        offsets = [e.value["offset"] for e in call.events if e.name == "display"][:events]
        before = len("".join(f"{n}\n" for n in range(events)))
        start = {"stdout": before, "stderr": 2, "bundles": 50_000, "events": offsets[-1] if offsets else 0}
        again = begin(client, MIXED, key="once", since=start)
        rest = await end(again)
        assert displays(again) == list(range(events, 20))
        assert (rest.stdout, rest.stderr, rest.bundles) == (whole[0][before:], whole[1][2:], whole[2][50_000:])
        assert rest.result == done.result
    async with served.client() as other:
        attached = other.call("code.attach", {"context": "c"})
        copy = await end(attached)
        assert (copy.stdout, copy.stderr, copy.bundles, copy.result) == (*whole, done.result)
        named = other.call("code.attach", {"context": "c", "run": done.result["run"], "since": since(call)})
        assert (await end(named)).stdout == b""


async def test_a_reader_ends_although_only_the_order_of_output_is_left_to_read(client: Client) -> None:
    await create(client)
    done = await run(client, "import sys\nfor n in range(1500): print(n); print(n, file=sys.stderr)")
    start = {"stdout": len(done.stdout), "stderr": len(done.stderr)}
    again = client.call("code.attach", {"context": "c", "run": done.result["run"], "since": start})
    assert await again.result() == done.result


async def test_a_client_that_lost_its_connection_continues_a_run_in_progress(served: Served, client: Client) -> None:
    await create(client)
    source = "for n in range(3):\n    print(n, input(), flush=True)"
    async with served.client() as lost:
        call = begin(lost, source, key="k", stdin=True)
        request = await call.event("input")
        await lost.ask("code.answer", run=(await call.event("opened"))["run"], request=request["request"], value="a")
        request = await call.event("input", 2)
        start = since(call)
    assert start["stdout"] == len(b"0 a\n")
    again = begin(client, source, key="k", stdin=True, since=start)
    run_id = (await again.event("opened"))["run"]
    assert (await client.refused("code.answer", run=run_id, request=1, value="x")).code == "conflict"
    await client.ask("code.answer", run=run_id, request=2, value="b")
    await client.ask("code.answer", run=run_id, request=(await again.event("input"))["request"], value="c")
    assert (await end(again)).stdout == b"1 b\n2 c\n"


async def test_a_question_comes_after_all_output_before_it(client: Client) -> None:
    """Kernels send questions and output on different sockets."""
    await create(client)
    call = begin(client, "for n in range(3):\n    print('x' * 5_000_000, flush=True)\n    input()", stdin=True)
    for number in (1, 2, 3):
        request = (await call.event("input", number))["request"]
        asked = [event for event in call.events if event.name == "input"]
        assert asked[-1].at == number * 5_000_001
        await client.ask("code.answer", run=(await call.event("opened"))["run"], request=request, value="")
    assert len((await end(call)).stdout) == 15_000_003


async def test_an_offset_that_does_not_exist_is_refused(client: Client) -> None:
    await create(client)
    await run(client, "print(1); display(2)")
    for name, offset in (("stdout", 99), ("events", 1), ("bundles", 1)):
        error = await client.refused("code.attach", context="c", since={name: offset})
        assert (error.code, error.details["path"]) == ("invalid_params", f"$.since.{name}")


SMALL = RuntimeLimits(
    code=CodeLimits(pool=PoolLimits(size=0), spill=SpillLimits(each=1 << 20, segment=256 << 10), kept_runs=2),
    journals=JournalLimits(each=256 << 10),
)


@pytest.mark.parametrize("limits", [SMALL])
async def test_a_reader_that_is_too_slow_is_notified_of_each_gap_and_gets_the_rest(client: Client) -> None:
    await create(client)
    source = "for n in range(300): display('d' * 500)\nprint('x' * 3_000_000)\nprint('end')"
    slow = begin(client, source, generous=False)
    opened = await slow.event("opened")
    fast = await end(client.call("code.attach", {"context": "c", "run": opened["run"]}))
    assert fast.result["end"]["stdout"] == 3_000_005
    slow.generous = True
    slow.grant(1 << 20)
    done = await end(slow)
    gaps = {value["stream"] for value in done.named("truncated")}
    assert "stdout" in gaps
    assert done.stdout.endswith(b"x\nend\n")
    assert len(json.dumps(done.events)) < 8 << 20
    for number in range(3):
        await run(client, f"print({number})")
    assert (await client.refused("code.attach", context="c", run=opened["run"])).code == "not_found"
