"""Points in time that can be stored, and can be compared even if the wall clock has been changed.

Users and NTP can set the wall clock forward or back. Unless the machine has been rebooted, durations are therefore
measured with CLOCK_BOOTTIME, which also advances while the machine is suspended (clock_gettime(2)).
"""

import time
from collections.abc import Callable
from pathlib import Path

import msgspec

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Moment(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A point in time.

    Attributes:
        wall: Seconds since 1970.
        boot: The boot id.
        uptime: Seconds since boot.
    """

    wall: float
    boot: str
    uptime: float

    def after(self, seconds: float) -> "Moment":
        return Moment(self.wall + seconds, self.boot, self.uptime + seconds)

    def is_after(self, other: "Moment") -> bool:
        """Return whether this moment is later than `other`. If the boot ids differ, the wall clock times are
        compared."""
        return self.uptime > other.uptime if self.boot == other.boot else self.wall > other.wall


def _uptime() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Clock:
    """A clock that returns and compares moments.

    Args:
        wall: Returns seconds since 1970.
        uptime: Returns seconds since boot.
        boot: The boot id. Defaults to this machine's current boot id.
    """

    def __init__(
        self,
        *,
        wall: Callable[[], float] = time.time,
        uptime: Callable[[], float] = _uptime,
        boot: str | None = None,
    ) -> None:
        self._wall = wall
        self._uptime = uptime
        self._boot = boot if boot is not None else BOOT_ID.read_text().strip()

    def now(self) -> Moment:
        return Moment(self._wall(), self._boot, self._uptime())

    def until(self, moment: Moment) -> float:
        """Return the number of seconds until `moment`. The number is negative if the moment has passed. If the moment
        is from another boot, the wall clock is used."""
        if moment.boot == self._boot:
            return moment.uptime - self._uptime()
        return moment.wall - self._wall()
