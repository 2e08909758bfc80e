"""A clock for the age of a call: it never goes back, and runs while the machine sleeps."""

import time

# `time.monotonic` stops while Linux and macOS sleep. Without CLOCK_BOOTTIME, CLOCK_MONOTONIC keeps running (macOS).
_CLOCK = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC", None))


def boot_time() -> float:
    """Return seconds since some fixed moment. Setting the date does not change them."""
    return time.monotonic() if _CLOCK is None else time.clock_gettime(_CLOCK)
