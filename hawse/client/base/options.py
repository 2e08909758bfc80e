"""What can be set about a client, with units and reasons. The clock and the dice are in it so that tests own both."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from hawse.wire import Limits


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a client behaves. Times in seconds, sizes in bytes."""

    connect_timeout: float = 10.0  # for one attempt, and for how long a call that was never sent waits for a line
    give_up: float | None = None  # without any line for this long everything pending fails; None: never
    unavailable_give_up: float = 30.0  # how long one channel is retried while its sandbox cannot be reached
    window: int = 512 * 1024  # what a channel may send ahead of its consumer: bandwidth × round trip
    ping_interval: float = 10.0  # between two pings; a pong that is not there by the next one drops the line
    backoff_base: float = 0.25  # the second attempt comes within this, each later one within twice as much
    backoff_cap: float = 10.0
    stable: float = 5.0  # a line that lived this long makes the next loss a first one again

    sleep: Callable[[float], Awaitable[None]] = field(default=asyncio.sleep, repr=False)
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)
    dice: Callable[[], float] = field(default=random.random, repr=False)  # uniform in [0, 1)

    def __post_init__(self) -> None:
        if not 1 <= self.window <= Limits().window_max:
            raise ValueError(f"window: 1 to {Limits().window_max} bytes")
        for name in ("connect_timeout", "ping_interval"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name}: more than 0 seconds")
