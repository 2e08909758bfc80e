"""One run: the messages it accepts from the host, and its final status."""

import json
from pathlib import Path

import msgspec
import pytest

from hawse.api.code import CodeRun
from hawse.api.types import Exit
from hawse.wire import HawseError
from hawse_runtime.code.host_protocol import RunDone, RunEvent
from hawse_runtime.code.run import EVENT_LIMIT, Run, Why
from hawse_runtime.code.run_log import EventCursor, RunLog
from hawse_runtime.core.folder import Folder
from hawse_runtime.core.framing import ProtocolError
from hawse_runtime.core.thread_pool import ThreadPools
from hawse_runtime.journal.journal import Journal
from hawse_runtime.journal.spill import SpillStore


@pytest.fixture
def settled() -> list[Run]:
    return []


@pytest.fixture
async def run(pools: ThreadPools, tmp_path: Path, settled: list[Run]) -> Run:
    run = Run(CodeRun(source="1"), settled.append)
    run.begin(1, RunLog(Journal, SpillStore(pools.spill, Folder(tmp_path / "s")), run.wake, lambda: None, lambda: None))
    return run


def event(name: str, value: str) -> RunEvent:
    return RunEvent(run=1, name=name, value=msgspec.Raw(value.encode()))  # type: ignore[arg-type]


DONE = RunDone(run=1, ok=True, execution_count=3)
FAILED = RunDone(run=1, ok=False, error=("KeyboardInterrupt", "", []))


@pytest.mark.parametrize(
    ("ended_as", "end", "status"),
    [
        (None, DONE, "ok"),
        (None, FAILED, "error"),
        ("interrupted", FAILED, "interrupted"),
        ("interrupted", DONE, "ok"),
        ("timed_out", FAILED, "timed_out"),
        ("timed_out", DONE, "timed_out"),
        (None, Exit(code=3), "crashed"),
        ("interrupted", Exit(code=3), "crashed"),
        ("timed_out", Exit(code=3), "crashed"),
        ("stopped", Exit(signal="SIGTERM"), "stopped"),
    ],
)
async def test_the_status_states_what_ended_the_run(
    run: Run, settled: list[Run], ended_as: Why | None, end: RunDone | Exit, status: str
) -> None:
    run.ended_as = ended_as
    run.done(end) if isinstance(end, RunDone) else run.executor_ended(end)
    assert run.result is not None
    assert run.result.status == status
    assert settled == [run]
    run.done(DONE)  # a late reply
    run.executor_ended(Exit(code=9))
    run.receive_output(0, b"late")
    run.fail(HawseError("internal"))
    assert (settled, run.result.end.stdout, run.error) == ([run], 0, None)


@pytest.mark.parametrize("why", ["timed_out", "interrupted"])
async def test_a_run_whose_executor_was_killed_has_the_status_of_the_reason(run: Run, why: Why) -> None:
    run.ended_as, run.killed = why, True
    run.executor_ended(Exit(signal="SIGKILL"))
    assert run.result is not None
    assert (run.result.status, run.result.killed, run.result.exit) == (why, True, Exit(signal="SIGKILL"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("value", "[]"),
        ("value", '{"data": 3}'),
        ("display", '{"large": [{"type": "x"}]}'),
        ("raised", "{}"),
        ("clear", '{"wait": 1}'),
        ("input", '{"prompt": null}'),
        ("display", '{"data": {"text/plain": "' + "x" * EVENT_LIMIT + '"}}'),
        ("display", '{"data": {"application/json": ' + "[" * 100_000 + "]" * 100_000 + "}}"),
    ],
)
async def test_an_event_of_another_type_than_declared_is_refused(run: Run, name: str, value: str) -> None:
    with pytest.raises(ProtocolError):
        run.receive_event(event(name, value))


async def test_requests_for_input_are_numbered(run: Run) -> None:
    assert run.log is not None
    run.receive_event(event("input", '{"prompt":"a"}'))
    run.receive_event(event("input", '{"prompt":"b"}'))
    assert run.pending_input is not None
    assert (run.pending_input.request, run.pending_input.prompt) == (2, "b")
    assert run.pending_input.offset == run.log.end.events
    cursor = EventCursor(run.log, 0, run.wake)
    frames = []
    while (frame := cursor.look()) is not None:
        frames.append(json.loads(frame.body))
        cursor.take(frame)
    assert frames == [{"request": 1, "prompt": "a"}, {"request": 2, "prompt": "b"}]
    run.done(DONE)
    assert run.pending_input is None
