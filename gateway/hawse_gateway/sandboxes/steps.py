"""The state machine of a sandbox: maps its rows to the next step. A table without I/O.

A `starting` run here is an interrupted start, since a driver asks for no step during a start. It is not known how much
of the run was started, so it is ended first. So is a run without a sandbox, or a run of a deleted sandbox with the same
id.
"""

from enum import Enum
from typing import Final

from hawse_gateway.sandboxes.records import Rows


class Step(Enum):
    """The driver's next action."""

    NONE = "nothing is to be done"
    START = "write a run, create the unit, start it"
    STOP = "end everything that runs, and verify it"
    PAUSE = "suspend it"
    RESUME = "let it go on"
    DELETE = "remove its files, and then its row"


# By the wanted state (None: the sandbox has no row) and the state of the run (None: no run).
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
    """Return the next step towards the wanted state."""
    if rows.run is not None and rows.live is None:
        return Step.STOP
    wanted = None if rows.sandbox is None else rows.sandbox.value.wanted
    return STEPS[wanted, None if rows.run is None else rows.run.value.state]
