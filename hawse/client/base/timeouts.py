"""Checks time limits passed by callers."""

import math

from hawse.client.base.call_errors import InvalidParamsError


def check_timeout(timeout: object, *, most: float = math.inf) -> None:
    """Check a time limit before anything is sent.

    Args:
        timeout: Seconds; None means no limit.
        most: The largest value allowed.

    Raises:
        InvalidParamsError: The limit is not a number, is 0 or less, or exceeds `most`. NaN is also invalid, because
            JSON cannot represent it.
    """
    if timeout is None or (isinstance(timeout, int | float) and 0 < timeout <= most):
        return
    allowed = "more than 0 seconds are" if most == math.inf else f"more than 0 and at most {most:,.0f} seconds are"
    raise InvalidParamsError(f"timeout is {timeout!r}; {allowed} allowed", details={"path": "timeout"})
