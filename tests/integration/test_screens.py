"""The output of real programs, cut at any offset: a snapshot and the rest look in xterm.js as all output does.

`python -m tests.screens.cases 200` uses more offsets; docs/screens.md lists the differences that remain.
"""

import os

import pytest

from tests.fuzz.screens import Totals, make_case, run_case
from tests.screens.cases import KNOWN, RECORDINGS, outcomes, program_of, seen

OFFSETS = int(os.environ.get("HAWSE_SCREEN_OFFSETS", "12"))

pytestmark = pytest.mark.timeout(300)


@pytest.mark.soak
def test_xterm_shows_the_same_after_a_snapshot_wherever_a_recording_is_cut() -> None:
    assert len({program_of(path) for path in RECORDINGS}) >= 12
    found = [
        f"{outcome['name']} at {cut['at']}, {place}: {kind}: {what['example']}"
        for outcome in outcomes(RECORDINGS, OFFSETS)
        for cut in outcome["cuts"]
        for place in ("there", "end")
        for kind, what in seen(cut[place]).items()
        if kind not in KNOWN.get(outcome["name"].rsplit("-", 1)[0], ())
    ]
    assert not found, "\n".join(found[:20])


def test_recordings_are_small_and_say_nothing_of_the_machine_they_were_made_on() -> None:
    sizes = [path.stat().st_size for path in RECORDINGS]
    assert max(sizes) < 300_000
    assert sum(sizes) < 2_000_000
    assert [path for path in RECORDINGS if b"/work/" in path.read_bytes() or b"/root/" in path.read_bytes()] == []


FUZZ_CASES = 60  # `make fuzz` runs them for ten minutes


@pytest.mark.parametrize("number", range(FUZZ_CASES))
def test_a_snapshot_of_whatever_is_printed_can_be_taken(number: int) -> None:
    case, totals = make_case(number), Totals()
    run_case(case, totals)
    assert totals.snapshots == len(case.steps)
