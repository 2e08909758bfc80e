"""A clock that only the test advances."""

from hawse_gateway.store.clock import Clock


class ManualClock:
    """`clock` returns the times `wall` (seconds since 1970) and `uptime` (seconds since boot)."""

    def __init__(self, boot: str = "a boot") -> None:
        self.wall = 1_000_000.0
        self.uptime = 1_000.0
        self.clock = Clock(wall=lambda: self.wall, uptime=lambda: self.uptime, boot=boot)

    def advance(self, seconds: float) -> None:
        self.wall += seconds
        self.uptime += seconds
