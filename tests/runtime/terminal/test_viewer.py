"""A viewer: where its output starts, the events between its bytes, input applied once, and flow control."""

import asyncio
import gc
import os
import random
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from pyghostty import Terminal as Emulator

from hawse.wire import Limits, StreamDecoder
from hawse.wire.frames import SHARED
from hawse_runtime.journal.input_offsets import InputOffsets
from hawse_runtime.journal.limits import FlowLimits, JournalLimits
from hawse_runtime.people import presence
from hawse_runtime.screen.snapshot_cache import CachedSnapshot
from hawse_runtime.settings import RuntimeLimits
from hawse_runtime.terminal import viewer as viewer_module
from hawse_runtime.terminal.congestion_window import FLOOR, CongestionWindow
from hawse_runtime.terminal.viewer import RESEED_ROWS
from tests.support import terminals
from tests.support.runtime import Channel, Client, Served, eventually
from tests.support.waiting import in_directory

LINES = 300_000
PRINT_FLOOD = f"import sys; sys.stdout.buffer.writelines(b'%08d\\n' % n for n in range({LINES}))"


@cache  # not while pytest imports the module, which each of its processes does
def flood_output() -> bytes:
    return b"%08d\r\n" * LINES % tuple(range(LINES))


async def flood(client: Client, terminal_id: str = "t") -> None:
    await client.ask("terminal.create", id=terminal_id, argv=[sys.executable, "-c", PRINT_FLOOD])


@asynccontextmanager
async def held_flood(client: Client, folder: Path) -> AsyncIterator[None]:
    """A terminal whose flood starts when the block ends: viewers that were opened in the block miss none of it."""
    gate = folder / "gate"
    os.mkfifo(gate)
    program = f"open({str(gate)!r}).close(); {PRINT_FLOOD}"
    await client.ask("terminal.create", id="t", argv=[sys.executable, "-c", program])
    yield
    await asyncio.to_thread(gate.write_bytes, b"")


def names(channel: Channel) -> list[str]:
    return [event.name for event in channel.events]


# ---- where it begins


async def test_a_resume_at_every_offset_is_exact(client: Client) -> None:
    shell = await client.terminal("seq 100; exec sleep 60")
    await shell.seen(b"\n100\r\n")
    whole = bytes(shell.output)
    for since in range(len(whole) + 1):
        again = client.attach("t", since=since)
        opened = await again.event("opened")
        assert (opened["start_at"], opened["from"], opened["screen"]) == ("resume", since, 0)
        assert (await again.event("live"))["offset"] == len(whole)
        assert again.output == whole[since:]
        again.cancel()
    beyond = await client.refused("terminal.attach", id="t", since=len(whole) + 1)
    assert (beyond.code, beyond.details) == ("invalid_params", {"offset": len(whole)})


async def test_a_new_viewer_gets_everything_from_the_start(client: Client) -> None:
    shell = await client.terminal("printf 'a\\033[31mb'; exec sleep 60")
    await shell.seen(b"b")
    again = client.attach("t")
    opened = await again.event("opened")
    assert (opened["start_at"], opened["from"]) == ("start", 0)
    await again.event("live")
    assert again.output == b"a\x1b[31mb"
    assert names(again) == ["opened", "live"]


@pytest.mark.parametrize("since", [None, 0, 100_000])
async def test_a_snapshot_is_sent_if_the_journal_has_dropped_the_output(
    client: Client, served: Served, since: int | None
) -> None:
    served.runtime.journals.limits = JournalLimits(each=1 << 20)
    await flood(client)
    await terminals.exited(served.runtime.terminals.get("t"))
    viewer = client.attach("t", since=since)
    opened = await viewer.event("opened")
    assert opened["start_at"] == "snapshot"
    assert opened["from"] == len(flood_output())
    await viewer.result()
    assert opened["screen"] == len(viewer.screen)
    assert not viewer.output
    with Emulator(80, 24) as straight, Emulator(80, 24) as painted:
        straight.feed(flood_output())
        painted.feed(bytes(viewer.screen))
        assert painted.text() == straight.text()
        assert painted.cursor == straight.cursor
    assert [event.name for event in viewer.events] == ["opened", "live", "exit"]


async def test_a_snapshot_is_correct_at_any_point_of_a_program(client: Client, served: Served) -> None:
    """Attach again and again while a full-screen program draws: each viewer ends with the same screen."""
    rng = random.Random(1)
    script = (
        "import sys, random; rng = random.Random(2)\n"
        "out = sys.stdout\n"
        "for n in range(4000):\n"
        "    place = '\\x1b[%d;%dH' % (rng.randint(1, 24), rng.randint(1, 80))\n"
        "    out.write(rng.choice(['\\x1b[?1049h', '\\x1b[?1049l', place,"
        " 'wörter ✓ ', '\\x1b[3%dm' % rng.randint(0, 7), '\\r\\n', '\\x1b[K', '\\x1b[2;20r', '\\x1b[r', '日本']))\n"
        "    if n % 50 == 0: out.flush(); sys.stdin.readline()\n"
        "out.write('\\x1b[?1049l\\x1b[2J\\x1b[Hend'); out.flush(); sys.stdin.readline()\n"
    )
    await client.ask("terminal.create", id="t", argv=[sys.executable, "-c", script], env={"PYTHONIOENCODING": "utf-8"})
    first = client.attach("t", input="keys")
    viewers = [first]
    terminal = served.runtime.terminals.get("t")
    terminal.replay_limit = 0  # every viewer without `since` gets a snapshot
    for _ in range(80):
        first.send(b"\n")
        before = len(first.output)
        await first.until(lambda: len(first.output) > before + 1)  # noqa: B023
        if rng.random() < 0.2:
            viewers.append(client.attach("t"))
            await viewers[-1].event("live")
    await first.seen(b"end")
    for viewer in viewers:
        await viewer.until(lambda: viewer.output.endswith(b"end"))  # noqa: B023
    starts = [viewer.events[0].value["start_at"] for viewer in viewers]
    assert "snapshot" in starts
    screens = set()
    for viewer in viewers:
        with Emulator(80, 24) as emulator:
            emulator.feed(bytes(viewer.screen) + bytes(viewer.output))
            screens.add((emulator.text(), emulator.cursor))
    assert len(screens) == 1


# ---- what stands between its bytes


async def test_a_resize_has_its_exact_offset_live_and_in_every_replay(client: Client) -> None:
    shell = await client.terminal("stty -echo; echo ready; while read x; do stty size; done")
    await shell.seen(b"ready\r\n")
    sizes = [(100, 30), (120, 40), (90, 20)]
    for number, (cols, rows) in enumerate(sizes, 1):
        await client.ask("terminal.resize", id="t", cols=cols, rows=rows)
        assert await shell.event("resized", number) == {"cols": cols, "rows": rows, "offset": len(shell.output)}
        shell.send(b"\n")
        await shell.seen(b"%d %d\r\n" % (rows, cols))
    whole = bytes(shell.output)
    resizes = [event for event in shell.events if event.name == "resized"]
    assert [event.at for event in resizes] == [event.value["offset"] for event in resizes]
    for since in range(len(whole) + 1):
        again = client.attach("t", since=since)
        opened = await again.event("opened")
        await again.event("live")
        if since == len(whole):
            await client.info()
        resized = [event for event in again.events if event.name == "resized"]
        assert [event.value for event in resized] == [
            event.value for event in resizes if event.value["offset"] >= since
        ]
        assert all(event.at == event.value["offset"] for event in resized)
        held = [event.value for event in resizes if event.value["offset"] < since]
        assert (opened["cols"], opened["rows"]) == ((held[-1]["cols"], held[-1]["rows"]) if held else (80, 24))
        again.cancel()


async def test_live_is_sent_once_after_the_replay(client: Client) -> None:
    shell = await client.terminal("seq 20000; exec sleep 60")
    await shell.seen(b"\n20000\r\n")
    end = len(shell.output)
    again = client.attach("t", since=0)
    await again.event("live")
    assert len(again.output) == end
    assert [(event.name, event.at) for event in again.events] == [("opened", 0), ("live", end)]


async def test_the_exit_is_sent_after_the_last_byte(client: Client) -> None:
    shell = await client.terminal("seq 50000; exit 3")
    assert (await shell.result())["exit"]["code"] == 3
    assert shell.output.endswith(b"\n50000\r\n")
    assert names(shell) == ["opened", "live", "exit"]
    assert shell.events[-1].at == len(shell.output) == shell.value["offset"]


# ---- input


async def test_a_megabyte_of_input_is_applied_completely_and_in_order(client: Client) -> None:
    data = b"".join(b"%07d\n" % n for n in range(131_072))
    shell = await client.terminal("stty raw -echo; echo ready; exec head -c 1048576")
    await shell.seen(b"ready")
    await shell.type(data)
    await shell.result()
    assert bytes(shell.output).partition(b"ready\n")[2].lstrip(b"\r\n") == data


async def test_input_is_applied_once_across_reattaches_with_the_same_id(served: Served) -> None:
    data = b"".join(b"%05d\n" % n for n in range(20_000))
    async with served.client() as first:
        await first.ask("terminal.create", id="t", argv=["sh", "-c", "stty raw -echo; echo ready; exec cat > got"])
        await first.attach("t").seen(b"ready")
    applied = 0
    rng = random.Random(3)
    while applied < len(data):
        async with served.client() as client:
            shell = client.attach("t", input="keys")
            applied = (await shell.event("opened"))["input_offset"]
            again = max(0, applied - rng.randint(0, 5000))  # what it is not sure of, it sends again
            size = rng.randint(0, 60_000)
            shell.send(data[again : again + size], offset=again)
            if rng.random() < 0.5:
                await client.info()
        terminal = served.runtime.terminals.get("t")
        await served.until(lambda: not terminal.viewers)  # noqa: B023
        applied = terminal.inputs.applied("keys")
    await in_directory(served.workspace, lambda: (served.workspace / "got").stat().st_size >= len(data))
    assert (served.workspace / "got").read_bytes() == data


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 100)), max_size=40))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_resent_input_that_was_applied_is_ignored(sends: list[tuple[int, int]]) -> None:
    inputs, stream, written = InputOffsets(), bytes(range(256)) * 2, b""
    for offset, size in sends:
        offset = min(offset, len(written))
        fresh = inputs.new_part("i", offset, stream[offset : offset + size])
        inputs.advance("i", len(fresh))
        written += bytes(fresh)
    assert written == stream[: len(written)]


async def test_an_input_gap_ends_the_call_with_the_applied_offset(client: Client) -> None:
    shell = await client.terminal("exec cat")
    shell.send(b"abc")
    shell.send(b"x", offset=4)
    error = await shell.refusal()
    assert (error.code, error.details) == ("input_gap", {"applied": 3})


async def test_input_requires_an_input_id(client: Client) -> None:
    await client.terminal("exec cat")
    nameless = client.attach("t")
    nameless.send(b"x")
    assert (await nameless.refusal()).code == "protocol_error"


async def test_input_after_the_end_is_a_typed_error(client: Client) -> None:
    shell = await client.terminal("seq 200000", "t")
    slow = client.attach("t", input="late", generous=False)
    await shell.result()
    slow.send(b"x")
    error = await slow.refusal()
    assert (error.code, error.details) == ("exited", {"applied": 0})


async def test_an_end_of_input_has_no_effect_on_a_terminal(client: Client) -> None:
    shell = await client.terminal("exec cat")
    shell.end()
    other = client.attach("t", input="other")
    other.send(b"\x04")
    assert (await shell.result())["exit"]["code"] == 0


async def test_input_is_bounded_when_the_program_does_not_read(client: Client) -> None:
    shell = await client.terminal("stty raw -echo; echo ready; exec sleep 60")
    await shell.seen(b"ready")
    window = client.connection.limits.input_window
    for at in range(0, window, 1 << 16):
        shell.send(bytes(1 << 16))
        assert at < window
    await client.info()
    assert shell.granted < window // 2, "credit is not returned for input that the program does not read"
    error = None
    for _ in range(20):
        shell.cancel()
        await shell.until(lambda: shell.closed)  # noqa: B023
        shell = client.attach("t", input="keys")
        shell.sent = (await shell.event("opened"))["input_offset"]
        for _ in range(0, window, 1 << 16):
            shell.send(bytes(1 << 16))
        await client.info()
        if shell.closed:
            error = await shell.refusal()
            break
    assert error is not None
    assert (error.code, error.retryable) == ("input_overflow", True)
    assert 1 << 19 < error.details["applied"] <= (1 << 20) + (1 << 17)


# ---- flow control

FOREVER = RuntimeLimits(journals=JournalLimits(flow=FlowLimits(stall_timeout=3600.0)))
BRIEF = RuntimeLimits(journals=JournalLimits(flow=FlowLimits(stall_timeout=0.02)))


async def test_the_fastest_viewer_paces_and_a_stalled_one_costs_nothing(client: Client, tmp_path: Path) -> None:
    async with held_flood(client, tmp_path):
        stalled = client.attach("t", generous=False, window=None)
        fast = client.attach("t")
        await fast.event("opened")
    await fast.result()
    assert fast.output == flood_output(), "it had every byte"
    assert "reseed" not in names(fast)
    assert len(stalled.output) <= 1 << 20
    assert not stalled.closed


@pytest.mark.parametrize("limits", [FOREVER])
async def test_with_one_slow_viewer_the_program_waits_for_it(client: Client, served: Served, tmp_path: Path) -> None:
    async with held_flood(client, tmp_path):
        slow = client.attach("t", generous=False)
        await slow.event("opened")
    terminal = served.runtime.terminals.get("t")
    await terminals.until(terminal, lambda: terminal.backpressure.paused)
    held = terminal.journal.end
    assert held <= (1 << 20) + FlowLimits().room + (512 << 10)
    await client.info()
    assert terminal.journal.end == held
    slow.generous = True
    slow.grant(1 << 20)
    await slow.result()
    assert slow.output == flood_output()


@pytest.mark.parametrize("limits", [FOREVER])
async def test_a_read_only_viewer_never_slows_the_program_down(client: Client, served: Served) -> None:
    await flood(client)
    client.attach("t", generous=False, read_only=True)
    terminal = served.runtime.terminals.get("t")
    await terminals.exited(terminal)


@pytest.mark.parametrize("limits", [BRIEF])
async def test_a_viewer_that_stalls_is_not_waited_for(client: Client, served: Served) -> None:
    await flood(client)
    client.attach("t", generous=False)
    terminal = served.runtime.terminals.get("t")
    await terminals.exited(terminal)


async def test_without_viewers_a_program_never_blocks(client: Client, served: Served) -> None:
    await flood(client)
    await terminals.exited(served.runtime.terminals.get("t"))
    assert (await client.ask("terminal.get", id="t"))["offset"] == len(flood_output())


async def test_a_viewer_that_grants_no_credit_does_not_block_others(client: Client, served: Served) -> None:
    async with served.client(window=0) as mute:
        await flood(client)
        unopened = mute.attach("t", generous=False)
        await terminals.exited(served.runtime.terminals.get("t"))
        assert unopened.events == []
        unopened.generous = True
        unopened.grant(1)
        await unopened.event("opened")


async def test_after_an_interrupt_the_newest_rows_are_enough(client: Client) -> None:
    program = f"{PRINT_FLOOD}; sys.stdout.flush(); sys.stdin.read()"
    await client.ask("terminal.create", id="t", argv=[sys.executable, "-c", program])
    behind = client.attach("t", generous=False)
    fast = client.attach("t", input="keys")
    await fast.seen(b"%08d\r\n" % (LINES - 1))
    fast.send(b"\x03")
    behind.generous = True
    behind.grant(1 << 20)
    await behind.event("reseed")
    await behind.result()
    assert b"%08d\r\n" % (LINES - 1) in behind.screen
    assert behind.screen.count(b"\n") <= RESEED_ROWS + 24


@pytest.mark.parametrize(
    "limits", [RuntimeLimits(journals=JournalLimits(each=1 << 20, flow=FlowLimits(stall_timeout=0.02)))]
)
async def test_a_slow_viewer_is_sent_a_snapshot_and_the_output_after_it(
    client: Client, served: Served, tmp_path: Path
) -> None:
    async with held_flood(client, tmp_path):
        slow = client.attach("t", generous=False)
        await slow.event("opened")
    await terminals.exited(served.runtime.terminals.get("t"))
    slow.generous = True
    slow.grant(1 << 20)
    await slow.result()
    expected, at = b"", 0
    for start, stop in slow.lost:
        expected, at = expected + flood_output()[at:start], stop
    assert slow.output == expected + flood_output()[at:]
    reseed = await slow.event("reseed", len(slow.lost))
    assert slow.lost
    assert reseed["screen"] == len(slow.screen)
    assert (reseed["cols"], reseed["rows"]) == (80, 24)
    assert names(slow)[-3:] == ["reseed", "live", "exit"]
    assert slow.events[-2].at >= reseed["from"]
    with Emulator(80, 24) as straight, Emulator(80, 24) as painted:
        straight.feed(flood_output())
        painted.feed(bytes(slow.screen) + flood_output()[reseed["from"] :])
        assert painted.text() == straight.text()


@pytest.fixture
def frozen() -> Iterator[None]:
    """Exclude the objects of earlier tests from gc.get_objects(), which takes long with all modules loaded."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("frozen")
@pytest.mark.parametrize("limits", [FOREVER])  # the fast viewer paces the program, also on a machine that is slow
async def test_the_snapshots_of_99_stalled_viewers_are_bounded(client: Client, served: Served, tmp_path: Path) -> None:
    snapshots = served.runtime.terminals.snapshots
    snapshots.limit = 200_000
    async with held_flood(client, tmp_path):
        fast = client.attach("t", generous=False)
        await fast.event("opened")
    async with served.client(window=8192) as deaf:
        stalled = []
        for n in range(99):
            fast.grant(20_000)
            at = 300_000 + 20_000 * n
            await fast.until(lambda at=at: fast.position >= at)  # type: ignore[misc]
            stalled.append(deaf.attach("t", generous=False))
            opened = await stalled[-1].event("opened")
            assert opened["start_at"] == "snapshot"
            assert opened["screen"] > 8192, "some of it has to wait"
            assert snapshots.held <= snapshots.limit
            assert (
                sum(len(kept.data) for kept in gc.get_objects() if isinstance(kept, CachedSnapshot)) <= snapshots.limit
            )
        fast.generous = True
        fast.grant(1 << 20)
        await fast.result()
        for viewer in stalled:
            viewer.generous = True
            viewer.grant(1 << 20)
        for viewer in stalled:
            await viewer.result()
    made = {viewer.events[0].value["from"]: viewer.events[0].value["screen"] for viewer in stalled}
    assert sum(made.values()) > snapshots.limit, "more than there was room for"
    assert sum("reseed" in names(viewer) for viewer in stalled) >= len(made) - snapshots.limit // min(made.values())
    assert snapshots.held == 0
    with Emulator(80, 24) as straight:
        straight.feed(flood_output())
        for viewer in (stalled[0], stalled[50], stalled[-1]):
            begun = viewer.lost[-1][1] if viewer.lost else viewer.events[0].value["from"]
            with Emulator(80, 24) as painted:
                painted.feed(bytes(viewer.screen) + flood_output()[begun:])
                assert painted.text() == straight.text()


async def test_viewers_that_attach_without_new_output_share_one_snapshot(client: Client, served: Served) -> None:
    shell = await client.terminal("seq 100000; exec sleep 60")
    await shell.seen(b"\n100000\r\n")
    async with served.client(window=8192) as deaf:
        viewers = [deaf.attach("t", generous=False) for _ in range(20)]
        sizes = {(await viewer.event("opened"))["screen"] for viewer in viewers}
        assert sizes == {served.runtime.terminals.snapshots.held}
        for viewer in viewers:
            viewer.cancel()
            await viewer.refusal()
        assert served.runtime.terminals.snapshots.held == 0


async def test_a_lossless_viewer_is_refused_if_the_snapshot_memory_is_full(client: Client, served: Served) -> None:
    shell = await client.terminal("seq 100000; read line; seq 100000; exec sleep 60")
    await shell.seen(b"\n100000\r\n")
    async with served.client(window=8192) as deaf:
        first = deaf.attach("t", generous=False, lossless=True)
        served.runtime.terminals.snapshots.limit = (await first.event("opened"))["screen"]
        shell.send(b"\r")
        await shell.until(lambda: shell.output.count(b"\n100000\r\n") == 2)
        refusal = await client.attach("t", lossless=True).refusal()
        assert (refusal.code, refusal.retryable) == ("limit_exceeded", True)
        first.generous = True
        first.grant(1 << 20)
        await first.event("live")
        assert "reseed" not in names(first)
        assert (await client.attach("t", lossless=True).event("opened"))["start_at"] == "snapshot"


async def test_a_lossless_viewer_misses_no_output_also_after_a_lost_connection(served: Served, tmp_path: Path) -> None:
    served.runtime.journals.limits = JournalLimits(each=1 << 20)
    async with served.client() as fast, served.client() as recorder:
        async with held_flood(fast, tmp_path):
            recording = recorder.attach("t", lossless=True, input="recorder", generous=False)
            await recording.event("opened")
            watching = fast.attach("t")
        terminal = served.runtime.terminals.get("t")
        await recording.until(lambda: len(recording.output) > 500_000)
        await terminals.until(terminal, lambda: terminal.backpressure.paused)
        await recorder.cut()
        await served.until(lambda: len(terminal.viewers) == 1)
        taken = bytes(recording.output)
        assert taken == flood_output()[: len(taken)]
        await fast.info()
        assert terminal.journal.start <= len(taken)
        assert terminal.exit is None
        async with served.client() as again:
            resumed = again.attach("t", lossless=True, input="recorder", since=len(taken))
            assert (await resumed.event("opened"))["start_at"] == "resume"
            await resumed.result()
            assert taken + resumed.output == flood_output()
            await watching.result()


async def test_output_is_kept_for_a_lossless_viewer_without_credit_from_the_start(
    client: Client, served: Served
) -> None:
    served.runtime.journals.limits = JournalLimits(each=1 << 20)
    async with served.client(window=0) as mute:
        shell = await client.terminal(f'read x; exec {sys.executable} -c "{PRINT_FLOOD}"')
        recording = mute.attach("t", since=0, lossless=True, input="r", generous=False)
        await mute.info()
        shell.send(b"\n")
        terminal = served.runtime.terminals.get("t")
        await terminals.until(terminal, lambda: terminal.backpressure.paused and terminal.journal.end > 1 << 19)
        assert terminal.journal.start == 0
        recording.generous = True
        recording.grant(1 << 20)
        await recording.result()
        assert recording.output == b"\r\n" + flood_output()


# ---- answers to queries


async def test_one_viewer_is_chosen_to_answer_and_another_when_it_leaves(client: Client) -> None:
    await client.ask("terminal.create", id="t", argv=["sleep", "60"])
    looks = client.attach("t", emulator=True)
    first = client.attach("t", emulator=True, input="1")
    second = client.attach("t", emulator=True, input="2")
    third = client.attach("t", input="3")
    assert [(await v.event("opened"))["answers"] for v in (looks, first, second, third)] == [False, True, False, False]
    first.cancel()
    assert await second.event("answers") == {"answers": True}
    second.cancel()
    await second.refusal()
    assert names(looks).count("answers") == names(third).count("answers") == 0


async def test_queries_are_answered_by_the_screen_or_the_chosen_viewer_and_never_by_both(client: Client) -> None:
    ask = (
        "stty raw -echo; echo ready; "
        "while read -r x; do printf '\\033[6n'; dd bs=1 count=6 2>/dev/null | od -An -c; done"
    )
    shell = await client.terminal(ask)
    await shell.seen(b"ready")
    shell.send(b"\n")
    await shell.seen(b"R")
    answers = client.attach("t", emulator=True, input="e")
    await answers.event("live")
    seen = len(shell.output)
    shell.send(b"\n")
    await answers.until(lambda: answers.output.count(b"\x1b[6n") == 2)
    await client.info()
    assert b"R" not in shell.output[seen:]
    answers.send(b"\x1b[9;9R")
    await shell.until(lambda: b"R" in shell.output[seen:])
    assert b"9   ;   9   R" in shell.output[seen:]
    shell.send(b"\n")
    await answers.until(lambda: answers.output.count(b"\x1b[6n") == 3)
    seen = len(shell.output)
    answers.cancel()
    await answers.refusal()
    shell.send(b"\n")
    await client.info()


# ---- storms


async def test_many_attaches_and_detaches_leave_no_state(served: Served, client: Client) -> None:
    shell = await client.terminal("exec cat")
    served.runtime.screens.warm_up()
    before = await client.info()
    rng = random.Random(4)
    for _ in range(30):
        async with served.client() as stormy:
            channels = [
                stormy.attach(
                    "t",
                    input=f"i{rng.randint(0, 5)}",
                    emulator=rng.random() < 0.5,
                    lossless=rng.random() < 0.5,
                    since=rng.choice([None, 0]),
                )
                for _ in range(20)
            ]
            for channel in channels:
                if rng.random() < 0.3:
                    channel.cancel()
            if rng.random() < 0.5:
                await stormy.info()
    terminal = served.runtime.terminals.get("t")
    await served.until(lambda: len(terminal.viewers) == 1)
    viewers = set(terminal.viewers)
    assert viewers < terminal.backpressure.readers
    assert len(terminal.backpressure.readers) == len(viewers) + 1, "the screen reads as well"
    assert terminal.backpressure.held <= 6
    after = await client.info()
    assert after["tasks"] == before["tasks"]
    await eventually(lambda: _fds(served) <= before["open_fds"])  # sockets are closed in a later turn, without an event
    shell.send(b"still there\n")
    await shell.seen(b"still there")


def _fds(served: Served) -> int:
    info: dict[str, Any] = served.runtime.info()
    return int(info["open_fds"])


@pytest.mark.parametrize("shares", [True, False])
async def test_viewers_at_the_same_offset_share_a_frame_if_the_link_supports_it(served: Served, shares: bool) -> None:
    frames: list[int] = []
    decoder = StreamDecoder(Limits())

    def tap(data: bytes) -> None:
        frames.extend(message[0] for is_control, message in decoder.feed(data) if not is_control)

    client = await Client(shares=shares, tap=tap).connect(served.socket)
    first = await client.terminal("stty raw -echo; printf ready; head -c 1; seq 100000")
    viewers = [first, *(client.attach("t") for _ in range(9))]
    for viewer in viewers:
        await viewer.seen(b"ready")
        await viewer.event("live")
    frames.clear()
    await first.type(b"x")
    for viewer in viewers:
        await viewer.result()
    text = b"readyx" + b"".join(b"%d\n" % n for n in range(1, 100_001))
    assert [bytes(viewer.output) for viewer in viewers] == [text] * 10
    assert (SHARED in frames) is shares
    if shares:
        assert len(frames) < 10 * len(text) // 4096
    await client.cut()


async def test_the_lease_of_a_lost_link_is_kept_and_that_of_a_viewer_that_left_is_freed(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "REJOIN_TIMEOUT", 0.0)
    lost, other = await served.client(), await served.client()
    await lost.ask("terminal.create", id="t", argv=["cat"])
    await lost.attach("t", viewer={"key": "ada"}).event("opened")
    taken = await lost.ask("terminal.lease", id="t", action="take", viewer="ada")
    await lost.cut()
    terminal = served.runtime.terminals.get("t")
    await served.until(lambda: len(terminal.viewers) == 0)
    watching = other.attach("t", viewer={"key": "bob"})
    await watching.event("opened")
    again = other.attach("t", viewer={"key": "ada"})
    opened = await again.event("opened")
    assert (opened["viewer"], opened["lease"]) == (taken["holder"], taken)
    again.cancel()
    assert (await watching.event("lease"))["mode"] == "free"
    await other.cut()


async def test_room_that_appears_late_in_a_turn_is_used_in_the_next(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock may advance between two calls. A stream that promises more and sends nothing is not pulled again."""
    calls = 0

    def room(flight: CongestionWindow, window: int, sent: int, back: int, extra: int) -> int:
        nonlocal calls
        calls += 1
        return 0 if calls % 2 else min(window, 4096)

    monkeypatch.setattr(CongestionWindow, "room", room)
    viewer = await client.terminal("seq 3000")
    await viewer.result()
    assert bytes(viewer.output) == b"".join(b"%d\r\n" % n for n in range(1, 3001))


async def read(client: Client, viewer: Channel, step: int) -> None:
    """Give back `step` bytes at a time: what the viewer holds back must never be what it would take for that."""
    goal = step
    while not viewer.closed:
        await client.until(lambda: viewer.closed or len(viewer.output) >= goal)  # noqa: B023
        client.connection.grant(viewer.ch, len(viewer.output) + step - goal)
        client.link.flush()
        goal = len(viewer.output) + step


async def test_viewers_whose_windows_differ_by_a_few_bytes_stop_at_the_same_offset(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Events count, and each viewer has received another number of them."""
    monkeypatch.setattr(viewer_module, "PROBE", 60)
    async with served.client(window=512 << 10) as client:
        first = await client.terminal("stty raw -echo; printf ready; head -c 1; seq 500000")
        for viewer in [client.attach("t", generous=False) for _ in range(20)]:
            await viewer.event("live")
        first.cancel()
        terminal = served.runtime.terminals.get("t")
        await eventually(lambda: len(terminal.viewers) == 20)
        other = client.attach("t", input="keys", generous=False)
        await other.event("live")
        await other.type(b"x")
        await eventually(lambda: all(viewer.in_flight >= FLOOR for viewer in terminal.viewers))
        assert len({viewer.cursor for viewer in terminal.viewers}) == 1


@pytest.mark.parametrize("step", [5 << 10, 64 << 10, 120 << 10, 130 << 10, 400 << 10, 500 << 10])
async def test_viewers_that_grant_credit_in_any_steps_receive_all_output(served: Served, step: int) -> None:
    async def resize() -> None:
        for cols in range(81, 120):
            await client.ask("terminal.resize", id="t", cols=cols, rows=24)

    async with served.client(window=512 << 10) as client:
        first = await client.terminal("stty raw -echo; printf ready; head -c 1; seq 300000")
        viewers = [client.attach("t", generous=False, lossless=True) for _ in range(3)]
        for viewer in viewers:
            await viewer.event("live")
        await first.type(b"x")
        await asyncio.gather(*(read(client, viewer, step + 100 * n) for n, viewer in enumerate(viewers)), resize())
        text = b"".join(b"%d\n" % n for n in range(1, 300_001))
        for viewer in viewers:
            assert bytes(viewer.output).partition(b"1\n")[2] == text[2:]
