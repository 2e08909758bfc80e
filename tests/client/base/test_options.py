"""What can be set."""

import pytest

from hawse.client.base.options import Options
from hawse.wire import Limits


@pytest.mark.parametrize(
    "wrong",
    [{"window": 0}, {"window": Limits().window_max + 1}, {"connect_timeout": 0}, {"ping_interval": -1}],
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Options(**wrong)  # type: ignore[arg-type]


def test_the_clock_and_the_dice_are_not_shown() -> None:
    assert "random" not in repr(Options())
