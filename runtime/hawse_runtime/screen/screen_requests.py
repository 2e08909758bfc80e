"""Pending requests to a terminal's screen, each at a position in the output, along with the latest snapshot."""

import weakref
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from hawse_runtime.journal.journal import Journal
from hawse_runtime.screen.plain_snapshot import BYTES, plain_snapshot
from hawse_runtime.screen.requests import Answer, AnyRequest, Paint
from hawse_runtime.screen.size_history import OutputPlace
from hawse_runtime.screen.snapshot_cache import CachedSnapshot


class ScreenRequest(NamedTuple):
    """A request at a position in the output, sent once the screen has read everything up to that position."""

    place: OutputPlace
    make: Callable[[int], AnyRequest]  # builds the request from the screen's number
    done: Callable[[Answer | None], None]  # called once with the response; None if the screen is unavailable
    scrollback: int | None = None  # number of scrollback rows, for snapshots only


class ScreenRequests:
    """The pending requests, ordered by their positions."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._waiting: deque[ScreenRequest] = deque()
        self._known: tuple[OutputPlace, int, weakref.ref[CachedSnapshot]] | None = None  # the latest snapshot

    @property
    def first(self) -> ScreenRequest | None:
        return self._waiting[0] if self._waiting else None

    def add(self, request: ScreenRequest) -> None:
        self._waiting.append(request)

    def add_snapshot(self, place: OutputPlace, scrollback: int, done: Callable[[CachedSnapshot], None]) -> None:
        """Request a snapshot, or call `done` with the latest snapshot if its place and scrollback match."""
        if known := self._shared(place, scrollback):
            done(known)
            return

        def painted(answer: Answer | None) -> None:
            done(self._shared(place, scrollback) or self._made(place, scrollback, answer))

        self.add(ScreenRequest(place, lambda number: Paint(number, scrollback), painted, scrollback))

    def answer_first(self, answer: Answer | None) -> None:
        self._waiting.popleft().done(answer)

    def answer_first_if_known(self) -> bool:
        """Answer the first request with the latest snapshot if possible. Return whether it was answered."""
        first = self._waiting[0]
        known = None if first.scrollback is None else self._shared(first.place, first.scrollback)
        if known is not None:
            self.answer_first(Answer(known.data))
        return known is not None

    def give_up(self) -> None:
        """Answer all pending requests without using the screen."""
        while self._waiting:
            self.answer_first(None)

    def plain(self, place: OutputPlace, scrollback: int) -> bytes:
        """Return the output before `place` as plain text, to be used instead of a snapshot."""
        start = max(self._journal.start, place.offset - BYTES)
        output = self._journal.copy(start, place.offset) if place.offset > start else b""
        return plain_snapshot(output, place.rows + scrollback)

    def _shared(self, place: OutputPlace, scrollback: int) -> CachedSnapshot | None:
        """Return the latest snapshot if its place and scrollback match and a viewer still holds it."""
        known = self._known
        return known[2]() if known is not None and known[:2] == (place, scrollback) else None

    def _made(self, place: OutputPlace, scrollback: int, answer: Answer | None) -> CachedSnapshot:
        data = self.plain(place, scrollback) if answer is None else answer.data
        made = CachedSnapshot(data, place.offset, place.cols, place.rows, place.next_mark)
        self._known = place, scrollback, weakref.ref(made)
        return made
