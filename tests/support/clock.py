"""A clock that goes on only when the test advances it."""

from hawse_gateway.store.clock import Clock


class ManualClock:
    """`clock` gives the time of `wall` and `uptime`, which are the seconds since 1970 and since the boot."""

    def __init__(self, boot: str = "a boot") -> None:
        self.wall = 1_000_000.0
        self.uptime = 1_000.0
        self.clock = Clock(wall=lambda: self.wall, uptime=lambda: self.uptime, boot=boot)

    def advance(self, seconds: float) -> None:
        self.wall += seconds
        self.uptime += seconds
