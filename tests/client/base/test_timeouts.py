"""Time limits are checked before anything is sent."""

import math

import pytest

from hawse.client.base.call_errors import InvalidParamsError
from hawse.client.base.timeouts import check_timeout


@pytest.mark.parametrize("timeout", [None, 1, 0.5, 1e9, True])
def test_a_time_limit_is_a_positive_number_or_none(timeout: float | None) -> None:
    check_timeout(timeout, most=1e9)


@pytest.mark.parametrize("timeout", [0, -1, math.nan, 1e10, math.inf, "1", [1]])
def test_anything_else_is_refused_with_its_value(timeout: object) -> None:
    with pytest.raises(InvalidParamsError, match=r"at most 1,000,000,000 seconds are allowed") as refused:
        check_timeout(timeout, most=1e9)
    assert refused.value.message.startswith(f"timeout is {timeout!r};")
    assert refused.value.details == {"path": "timeout"}


def test_without_a_largest_value_any_positive_number_is_allowed() -> None:
    check_timeout(math.inf)
    with pytest.raises(InvalidParamsError, match=r"timeout is '5'; more than 0 seconds are allowed$"):
        check_timeout("5")
