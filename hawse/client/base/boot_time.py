"""A monotonic clock for measuring a call's age. It keeps running while the machine sleeps."""

import time

# On Linux and macOS, `time.monotonic` stops while the machine sleeps. CLOCK_BOOTTIME (Linux) and CLOCK_MONOTONIC
# (macOS) do not.
_CLOCK = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC", None))


def boot_time() -> float:
    """Return the number of seconds since an arbitrary fixed time. Changes to the system time have no effect."""
    return time.monotonic() if _CLOCK is None else time.clock_gettime(_CLOCK)
