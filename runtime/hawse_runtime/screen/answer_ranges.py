"""The ranges of output where the screen answers queries because no viewer does."""

LIMIT = 64  # maximum number of changes kept; exceeded only if many viewers come and go while the screen reads nothing


class AnswerRanges:
    """A terminal's ranges, starting at the oldest output a screen might reread. At first, the screen answers
    queries.
    """

    def __init__(self) -> None:
        self.answered_to = 0  # queries before this offset are never answered twice, even if the output is read again
        # (offset, whether the screen answers queries from that offset onward), in ascending order.
        self._changes = [(0, True)]

    def hand_over(self, offset: int, *, to_viewer: bool) -> None:
        """Set who answers queries from `offset` onward: a viewer or the screen. Has no effect if unchanged."""
        last, by_screen = self._changes[-1]
        if by_screen is not to_viewer:
            return
        if offset > last:
            self._changes.append((offset, not to_viewer))
        elif len(self._changes) > 1:
            self._changes.pop()
        else:
            self._changes = [(last, not to_viewer)]
        if len(self._changes) > LIMIT:
            del self._changes[:2]

    def by_screen(self, offset: int) -> bool:
        """Return whether the screen answers queries at this output offset."""
        if offset < self.answered_to:
            return False
        earlier = [by_screen for at, by_screen in self._changes if at <= offset]
        return earlier[-1] if earlier else False

    def boundary(self, offset: int, stop: int) -> int:
        """Return the offset of the next change after `offset`, or `stop` if that comes first."""
        known = [at for at, _ in self._changes if offset < at < stop]
        if offset < self.answered_to < stop:
            known.append(self.answered_to)
        return min(known, default=stop)

    def answered(self, offset: int) -> None:
        """Record that the screen has answered the queries before `offset`."""
        self.answered_to = max(self.answered_to, offset)
        while len(self._changes) > 1 and self._changes[1][0] <= self.answered_to:
            del self._changes[0]
