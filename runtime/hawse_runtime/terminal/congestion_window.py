"""Limits the bytes in flight to one viewer to about bandwidth x round-trip time.

The credit window is large enough for the longest round trip. A slow reader that fills it has seconds of old output in
flight, which an interrupt cannot revoke. The bytes in flight are therefore kept near bandwidth x round-trip time, both
measured from the returned credit, as in BBR (Cardwell et al., ACM Queue 14(5), 2016). The measured round trip includes
queueing of the bytes in flight, so the delay they add is also limited, to QUEUE seconds. The window cannot get stuck: a
reader that grants credit in larger steps than the window is sent more after some time without credit.
"""

from collections import deque
from collections.abc import Callable

FLOOR = 64 << 10  # bytes: the step of clients' credit grants; with less in flight, they grant none
GAIN = 1.5  # factor over bandwidth x round trip, to notice an increase of the bandwidth
QUEUE = 0.5  # seconds of output in flight beyond FLOOR: the delay of an interrupt
STEP = 16 << 10  # bytes: a window with less than this unused counts as full
FORGET = 10.0  # seconds until the minimum round trip is measured again
PROBE = 0.2  # seconds without credit until a full window can double; the interval of checks
SLOWEST = 20_000  # bytes per second: the slowest supported connection
SAMPLES = 256  # latest sends kept to measure the round trip
GRANTS = 4  # latest grants kept to measure the step of the reader


class CongestionWindow:
    """The congestion window of one viewer. Sans-I/O: the caller reports sent bytes and returned credit."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._most = FLOOR  # bytes: the largest credit window with nothing in flight
        self.limit = FLOOR  # bytes allowed in flight
        self._sent = 0  # bytes since the start
        self._returned = 0  # bytes of credit returned since the start
        self._samples: deque[tuple[float, int]] = deque(maxlen=SAMPLES)  # (time, bytes sent by then)
        self._grants: deque[int] = deque(maxlen=GRANTS)  # bytes
        self._round_trip = 0.0  # seconds: the minimum; 0: unknown
        self._measured = 0.0  # time of that measurement
        self._since = clock()  # time of the latest credit, idle state or doubling
        self._double_after = 0.0  # seconds after `_since` until the next doubling; 0: not doubled since the last credit
        self._rate = 0.0  # bytes per second, smoothed; 0: unknown

    @property
    def size(self) -> int:
        """Bytes in flight: sent, but credit not returned."""
        return self._sent - self._returned

    def room(self, credit: int, sent: int, returned: int, extra: int = 0) -> int:
        """Return the number of bytes that can be sent now.

        Args:
            credit: Bytes that the reader's credit allows.
            sent: Bytes sent since the start.
            returned: Bytes of credit returned since the start.
            extra: Bytes allowed in flight beyond the limit.
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
        """Update the number of bytes sent since the start."""
        if sent > self._sent:
            now = self._clock()
            if self.size == 0:
                self._since = now
            self._sent = sent
            self._samples.append((now, sent))

    def _receive_credit(self, returned: int, now: float) -> None:
        """Update rate, round trip and limit with the credit returned since the last call."""
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
        """Return the seconds until the credit for the bytes in flight is overdue."""
        return max(PROBE, 2 * self.size / self._rate if self._rate else 1.5 * self.size / SLOWEST)
