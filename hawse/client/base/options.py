"""A client's options, with their units and the reasons for their values. Tests can replace the clock and the random
source.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from hawse.api import Params
from hawse.wire import Limits


@dataclass(frozen=True, kw_only=True)
class Options:
    """A client's settings. Times are in seconds, sizes in bytes."""

    connect_timeout: float = 10.0  # limits each connection attempt, and how long an unsent call waits for one
    first_give_up: float | None = None  # how long to retry the first connection; 0 means no retries, None means forever
    give_up: float | None = None  # all pending calls fail after this long without a connection; None means never
    unavailable_give_up: float = 30.0  # how long to retry a call while its sandbox cannot be reached
    request_timeout: float | None = None  # time limit for calls other than streams (see `time_limit`)
    window: int = 512 * 1024  # bytes the server can send ahead of a channel's reader (bandwidth × round-trip time)
    ping_interval: float = 10.0  # time between pings; a connection with no sign of life for this long is dropped
    backoff_base: float = 0.25  # maximum delay before the second connection attempt; doubles for each later one
    backoff_cap: float = 5.0  # maximum delay; half of `connect_timeout`, so that a waiting call gets an attempt
    stable: float = 5.0  # the delays start over once a connection has lasted this long

    sleep: Callable[[float], Awaitable[None]] = field(default=asyncio.sleep, repr=False)
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)
    dice: Callable[[], float] = field(default=random.random, repr=False)  # returns a uniform random number in [0, 1)

    def __post_init__(self) -> None:
        if not 1 <= self.window <= Limits().window_max:
            raise ValueError(f"window is {self.window}; 1 to {Limits().window_max} bytes are allowed")
        for name in ("connect_timeout", "ping_interval", "request_timeout"):
            seconds = getattr(self, name)
            if seconds is not None and not seconds > 0:
                raise ValueError(f"{name} is {seconds}; it must be more than 0 seconds")

    def time_limit(self, params: Params[Any]) -> float | None:
        """Return a call's time limit in seconds: `request_timeout` plus the time allowed by its parameters.

        The time allowed is the sum of the fields `timeout` and `grace`, if present: `process.kill` with a grace of 5
        seconds can take 5 seconds longer.
        """
        if self.request_timeout is None:
            return None
        return self.request_timeout + sum(getattr(params, name, None) or 0.0 for name in ("timeout", "grace"))
