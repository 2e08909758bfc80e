"""The table of steps is complete and safe."""

from typing import get_args, get_type_hints

from hawse_gateway.sandboxes.records import Run, Wanted
from hawse_gateway.sandboxes.steps import STEPS, Step

STATES = get_args(get_type_hints(Run)["state"])


def test_the_table_has_an_entry_for_each_pair_of_states() -> None:
    assert set(STEPS) == {(wanted, state) for wanted in (None, *get_args(Wanted)) for state in (None, *STATES)}


def test_nothing_is_started_or_deleted_while_anything_may_run() -> None:
    for (_, state), step in STEPS.items():
        assert state is None or step not in (Step.START, Step.DELETE)


def test_what_may_run_without_a_sandbox_or_after_an_interrupted_start_is_ended() -> None:
    for (wanted, state), step in STEPS.items():
        if state in ("starting", "stopping") or (state is not None and wanted in (None, "deleted")):
            assert step is Step.STOP


def test_every_state_leads_to_one_in_which_nothing_is_to_be_done() -> None:
    after = {Step.START: "running", Step.STOP: None, Step.PAUSE: "paused", Step.RESUME: "running"}
    for wanted in (None, *get_args(Wanted)):
        for state in (None, *STATES):
            steps = 0
            while (step := STEPS[wanted, state]) not in (Step.NONE, Step.DELETE):
                state = after[step]
                steps += 1
            assert steps <= 2
