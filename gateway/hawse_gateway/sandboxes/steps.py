"""The state machine of a sandbox: from its rows to the next step. A table without I/O.

A run that is `starting` is one whose start was interrupted, since a driver that is starting it asks for no step. What
of it has been started is not known, so it is ended first. So is a run without a sandbox, or of a deleted one that had
the same id.
"""

from enum import Enum
from typing import Final

from hawse_gateway.sandboxes.records import Rows


class Step(Enum):
    """What a driver does next."""

    NONE = "nothing is to be done"
    START = "write a run, create the unit, start it"
    STOP = "end everything that runs, and verify it"
    PAUSE = "suspend it"
    RESUME = "let it go on"
    DELETE = "remove its files, and then its row"


# By what is wanted (None: there is no row of the sandbox) and by the state of the run (None: there is no run).
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
    """Return the step that brings a sandbox nearer to what is wanted."""
    if rows.run is not None and rows.live is None:
        return Step.STOP
    wanted = None if rows.sandbox is None else rows.sandbox.value.wanted
    return STEPS[wanted, None if rows.run is None else rows.run.value.state]
