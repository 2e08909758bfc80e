"""The options of a client."""

import pytest

from hawse.api.git import GitPush
from hawse.api.processes import ProcessGet, ProcessKill
from hawse.client.base.options import Options
from hawse.wire import Limits


@pytest.mark.parametrize(
    "wrong",
    [
        {"window": 0},
        {"window": Limits().window_max + 1},
        {"connect_timeout": 0},
        {"ping_interval": -1},
        {"request_timeout": 0},
    ],
)
def test_invalid_options_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Options(**wrong)  # type: ignore[arg-type]


def test_a_request_may_take_the_time_that_its_parameters_permit_as_well() -> None:
    assert Options().time_limit(ProcessGet(id="p")) is None
    options = Options(request_timeout=10)
    assert options.time_limit(ProcessGet(id="p")) == 10
    assert options.time_limit(ProcessKill(id="p", grace=5)) == 15
    assert options.time_limit(GitPush(timeout=600)) == 610


def test_the_clock_and_the_dice_are_not_shown() -> None:
    assert "random" not in repr(Options())


def test_a_call_that_waits_for_a_connection_sees_an_attempt() -> None:
    assert Options().backoff_cap * 2 <= Options().connect_timeout
