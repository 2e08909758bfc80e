"""How much may be on its way to one viewer: what its line and its reader carry in a moment, not all it granted.

The window covers the longest line there may be; filled for a slow reader it is seconds of old output that an
interrupt cannot call back. So the flight is held near bandwidth x round trip, both measured by the credit that comes
back, as congestion control does (BBR: Cardwell et al., ACM Queue 14(5), 2016). It never stops: a reader that grants
in larger steps than it has been sent gets more after PROBE.
"""

from collections import deque
from collections.abc import Callable

FLOOR = 128 << 10  # bytes; two steps of credit of a client
GAIN = 1.5  # over bandwidth x round trip, so that a faster line shows
STEP = 16 << 10  # bytes; a sender may leave less than this unused
FORGET = 10.0  # seconds after which the least round trip is measured anew
PROBE = 0.2  # seconds without credit after which a held flight may double
SAMPLES = 256  # sends remembered


class CongestionWindow:
    """Sans-I/O: told of what is sent and of each change of the credit window."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._most = FLOOR  # the widest window, were nothing in flight
        self.limit = FLOOR
        self._sent = 0  # bytes since the beginning
        self._back = 0  # of them given back
        self._samples: deque[tuple[float, int]] = deque(maxlen=SAMPLES)  # (when, sent up to)
        self._round_trip = 0.0  # the least, 0 while unknown
        self._measured = 0.0  # when it was
        self._since = clock()  # when credit last came, or the flight was empty
        self._rate = 0.0  # bytes a second, smoothed

    @property
    def size(self) -> int:
        """Bytes sent and not yet given back."""
        return self._sent - self._back

    def room(self, window: int, sent: int, back: int) -> int:
        """How much of `window` to use now, when so many bytes were sent in all and so many of them given back."""
        now = self._clock()
        self._most = max(self._most, window + sent - back)
        self.sent(sent)
        self._credit(back, now)
        if self.size > self.limit - STEP and now - self._since > PROBE:
            self.limit = min(self.limit * 2, self._most)
            self._since = now
        return max(min(window, self.limit - self.size), 0)

    def sent(self, sent: int) -> None:
        """So many bytes went out by now, since the beginning."""
        if sent > self._sent:
            now = self._clock()
            if self.size == 0:
                self._since = now
            self._sent = sent
            self._samples.append((now, sent))

    def _credit(self, back: int, now: float) -> None:
        """Notice what was given back since the last time."""
        came, self._back = back - self._back, back
        if came <= 0:
            return
        elapsed, self._since = max(now - self._since, 1e-6), now
        self._rate = came / elapsed if not self._rate else 0.75 * self._rate + 0.25 * came / elapsed
        while self._samples and self._samples[0][1] <= self._back:
            when, _ = self._samples.popleft()
            trip = now - when
            if not self._round_trip or trip < self._round_trip or now - self._measured > FORGET:
                self._round_trip, self._measured = trip, now
        self.limit = max(FLOOR, int(GAIN * self._rate * self._round_trip))
