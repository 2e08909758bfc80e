"""The state machine for sandboxes: a table that maps a sandbox's rows to its next step. No I/O.

A driver never looks up the next step during a start. In the table, a `starting` run is therefore the result of an
interrupted start, which may have left processes behind. The run is ended first. Runs without a sandbox, and runs of a
deleted sandbox with the same id, are also ended.
"""

from enum import Enum
from typing import Final

from hawse_gateway.sandboxes.records import Rows, RunState, Wanted


class Step(Enum):
    """The driver's next action."""

    NONE = "the desired state has been reached"
    START = "write a run, and create and start the unit"
    STOP = "end all processes, and verify that they have ended"
    PAUSE = "suspend it"
    RESUME = "resume it"
    DELETE = "remove the files, and then the row"


# The next step, keyed by desired state (None if there is no row) and run state (None if there is no run).
STEPS: Final = {
    (None, None): Step.NONE,
    (None, "starting"): Step.STOP,
    (None, "running"): Step.STOP,
    (None, "paused"): Step.STOP,
    (None, "stopping"): Step.STOP,
    ("running", None): Step.START,
    ("running", "starting"): Step.STOP,
    ("running", "running"): Step.NONE,
    ("running", "paused"): Step.RESUME,
    ("running", "stopping"): Step.STOP,
    ("sleeping", None): Step.NONE,
    ("sleeping", "starting"): Step.STOP,
    ("sleeping", "running"): Step.STOP,
    ("sleeping", "paused"): Step.STOP,
    ("sleeping", "stopping"): Step.STOP,
    ("stopped", None): Step.NONE,
    ("stopped", "starting"): Step.STOP,
    ("stopped", "running"): Step.STOP,
    ("stopped", "paused"): Step.STOP,
    ("stopped", "stopping"): Step.STOP,
    ("paused", None): Step.NONE,
    ("paused", "starting"): Step.STOP,
    ("paused", "running"): Step.PAUSE,
    ("paused", "paused"): Step.NONE,
    ("paused", "stopping"): Step.STOP,
    ("deleted", None): Step.DELETE,
    ("deleted", "starting"): Step.STOP,
    ("deleted", "running"): Step.STOP,
    ("deleted", "paused"): Step.STOP,
    ("deleted", "stopping"): Step.STOP,
}


def next_step(rows: Rows) -> Step:
    """Return the next step toward the desired state."""
    wanted = None if rows.sandbox is None else rows.sandbox.value.wanted
    return step_towards(wanted, None if rows.run is None else rows.run.value.state, current=rows.live is not None)


def step_towards(wanted: Wanted | None, run: RunState | None, *, current: bool) -> Step:
    """Return the next step toward the desired state.

    Args:
        wanted: The desired state. None if the sandbox has no row.
        run: The state of its run. None if there is no run.
        current: Whether the run belongs to the sandbox, not to a deleted sandbox with the same id.
    """
    return Step.STOP if run is not None and not current else STEPS[wanted, run]
