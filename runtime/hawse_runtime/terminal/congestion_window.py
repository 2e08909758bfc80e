"""Congestion control for one viewer: limits the bytes in flight to about bandwidth x round-trip time.

The credit window is large enough for the longest round trip. With a slow reader, sending that much would put seconds of
old output in flight, which an interrupt can't take back. The congestion window therefore stays near bandwidth x
round-trip time. Bandwidth and round-trip time are measured from the returned credit, as in BBR (Cardwell et al., ACM
Queue 14(5), 2016). The measured round trip includes queueing delay, which would let the window grow, so no more than
QUEUE seconds of output may be queued. If a reader's credit grants are larger than the window, sending can't stall for
long, because the window doubles if no credit arrives for a while.
"""

from collections import deque
from collections.abc import Callable

FLOOR = 64 << 10  # size in bytes of a client's credit grants; with a smaller window, none would ever be sent
GAIN = 1.5  # multiple of bandwidth x round-trip time to keep in flight; above 1, so that a rise in bandwidth is noticed
QUEUE = 0.5  # seconds of output allowed in flight beyond FLOOR; limits how long an interrupt takes to become visible
STEP = 16 << 10  # a window with fewer free bytes than this counts as full
FORGET = 10.0  # seconds between fresh measurements of the minimum round-trip time
PROBE = 0.2  # seconds without credit until a full window doubles; also the interval between checks
SLOWEST = 20_000  # bytes per second on the slowest supported connection
SAMPLES = 256  # number of recent sends kept for measuring the round-trip time
GRANTS = 4  # number of recent grants kept for measuring the size of the reader's grants


class CongestionWindow:
    """A viewer's congestion window. Does no I/O: the caller reports the bytes sent and the credit returned."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._most = FLOOR  # largest credit window, in bytes, seen while nothing was in flight
        # Number of bytes allowed in flight.
        self.limit = FLOOR
        self._sent = 0  # number of bytes sent since the start
        self._returned = 0  # number of bytes of credit returned since the start
        self._samples: deque[tuple[float, int]] = deque(maxlen=SAMPLES)  # (time, total bytes sent at that time)
        self._grants: deque[int] = deque(maxlen=GRANTS)  # bytes
        self._round_trip = 0.0  # minimum round-trip time in seconds; 0 if unknown
        self._measured = 0.0  # when `_round_trip` was measured
        self._since = clock()  # when credit last arrived, or when the window was last idle or last doubled
        self._double_after = 0.0  # seconds from `_since` to the next doubling; 0 if not doubled since the latest credit
        self._rate = 0.0  # smoothed rate in bytes per second; 0 if unknown

    @property
    def size(self) -> int:
        """The number of bytes in flight: sent, but not yet returned as credit."""
        return self._sent - self._returned

    def room(self, credit: int, sent: int, returned: int, extra: int = 0) -> int:
        """Return the number of bytes that can be sent now.

        Args:
            credit: Number of bytes that the reader's credit allows.
            sent: Bytes sent since the start.
            returned: Bytes of credit returned since the start.
            extra: Number of bytes allowed in flight beyond the limit.
        """
        now = self._clock()
        self._most = max(self._most, credit + sent - returned)
        self.sent(sent)
        self._receive_credit(returned, now)
        if self.size > self.limit - STEP and now - self._since > (self._double_after or self._expected()):
            self.limit = min(self.limit * 2, self._most)
            self._double_after = 2 * self._double_after if self._double_after and self._rate else PROBE
            self._since = now
        return max(min(credit, self.limit + extra - self.size), 0)

    def sent(self, sent: int) -> None:
        """Record the total number of bytes sent."""
        if sent > self._sent:
            now = self._clock()
            if self.size == 0:
                self._since = now
            self._sent = sent
            self._samples.append((now, sent))

    def _receive_credit(self, returned: int, now: float) -> None:
        """Update the rate, the round-trip time and the limit from the credit returned since the last call."""
        grant, self._returned = returned - self._returned, returned
        if grant <= 0:
            return
        elapsed, self._since, self._double_after = max(now - self._since, 1e-6), now, 0.0
        self._grants.append(grant)
        self._rate = grant / elapsed if not self._rate else 0.75 * self._rate + 0.25 * grant / elapsed
        while self._samples and self._samples[0][1] <= self._returned:
            sent_at, _ = self._samples.popleft()
            round_trip = now - sent_at
            if not self._round_trip or round_trip < self._round_trip or now - self._measured > FORGET:
                self._round_trip, self._measured = round_trip, now
        floor = max(FLOOR, min(self._grants) if len(self._grants) == GRANTS else 0)
        self.limit = max(floor, int(min(GAIN * self._rate * self._round_trip, FLOOR + QUEUE * self._rate)))

    def _expected(self) -> float:
        """Return how many seconds can pass without credit before a grant is overdue."""
        return max(PROBE, 2 * self.size / self._rate if self._rate else 1.5 * self.size / SLOWEST)
