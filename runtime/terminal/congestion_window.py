"""How many bytes may be in flight to one viewer: what its connection and its reader carry in a moment.

The credit window covers the longest connection there may be. Filled for a slow reader it is seconds of old output that
an interrupt cannot call back. So the bytes in flight are held near bandwidth x round trip, both measured by the credit
that comes back, as congestion control does (BBR: Cardwell et al., ACM Queue 14(5), 2016). The round trip is measured
behind the bytes in flight, so what they may add to it is bounded as well: QUEUE seconds. It never stops: a reader that
grants in larger steps than it was sent gets more after some time without credit.
"""

from collections import deque
from collections.abc import Callable

FLOOR = 64 << 10  # bytes; one step of credit of a client: with less in flight it grants nothing
GAIN = 1.5  # over bandwidth x round trip, so that a faster connection shows
QUEUE = 0.5  # seconds that output may take beyond the floor: what an interrupt waits for
STEP = 16 << 10  # bytes; a sender may leave less than this unused
FORGET = 10.0  # seconds after which the least round trip is measured anew
PROBE = 0.2  # seconds without credit after which a full window may double, and between two looks at it
SLOWEST = 20_000  # bytes a second of the slowest connection that is provided for
SAMPLES = 256  # sends remembered
GRANTS = 4  # grants remembered, for the steps in which the reader grants


class CongestionWindow:
    """Sans-I/O: it is given what is sent and each change of the credit window."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._most = FLOOR  # the widest window, were nothing in flight
        self.limit = FLOOR
        self._sent = 0  # bytes since the beginning
        self._back = 0  # of them given back
        self._samples: deque[tuple[float, int]] = deque(maxlen=SAMPLES)  # (when, sent up to)
        self._grants: deque[int] = deque(maxlen=GRANTS)  # bytes
        self._round_trip = 0.0  # the least, 0 while unknown
        self._measured = 0.0  # when it was
        self._since = clock()  # when credit last came, or nothing was in flight, or the window was doubled
        self._patience = 0.0  # seconds from then after which it is doubled again; 0: not yet doubled
        self._rate = 0.0  # bytes a second, smoothed; 0 while unknown

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
        if self.size > self.limit - STEP and now - self._since > (self._patience or self._expected()):
            self.limit = min(self.limit * 2, self._most)
            self._patience = 2 * self._patience if self._patience and self._rate else PROBE
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
        elapsed, self._since, self._patience = max(now - self._since, 1e-6), now, 0.0
        self._grants.append(came)
        self._rate = came / elapsed if not self._rate else 0.75 * self._rate + 0.25 * came / elapsed
        while self._samples and self._samples[0][1] <= self._back:
            when, _ = self._samples.popleft()
            trip = now - when
            if not self._round_trip or trip < self._round_trip or now - self._measured > FORGET:
                self._round_trip, self._measured = trip, now
        floor = max(FLOOR, min(self._grants) if len(self._grants) == GRANTS else 0)
        self.limit = max(floor, int(min(GAIN * self._rate * self._round_trip, FLOOR + QUEUE * self._rate)))

    def _expected(self) -> float:
        """Seconds after which credit for what is in flight would have come."""
        return max(PROBE, 2 * self.size / self._rate if self._rate else 1.5 * self.size / SLOWEST)
