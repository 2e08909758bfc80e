"""Tracks the progress of starts on this gateway. Progress isn't stored, so other gateways report the sandbox as
`starting` without a phase."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hawse_gateway.providers.base import Progress, Report

log = logging.getLogger(__name__)


class ProgressTable:
    """The latest progress of each starting sandbox, and its observers."""

    def __init__(self) -> None:
        self.on_change: Callable[[str], None] | None = None  # called with a sandbox's id when its progress changes
        self._latest: dict[str, Progress] = {}
        self._observers: dict[str, list[Report]] = {}

    def report(self, sandbox: str, progress: Progress | None) -> None:
        """Record the progress of a start, or None once the start ends."""
        if progress is None:
            self._latest.pop(sandbox, None)
            return
        self._latest[sandbox] = progress
        for observer in list(self._observers.get(sandbox, ())):
            try:
                observer(progress)
            except Exception:  # an error in an observer must not end the start
                log.exception("! progress of sandbox %s", sandbox)
        if self.on_change is not None:
            self.on_change(sandbox)

    def latest(self, sandbox: str) -> Progress | None:
        return self._latest.get(sandbox)

    @contextmanager
    def observed(self, sandbox: str, report: Report | None) -> Iterator[None]:
        """Call `report` with a sandbox's current progress, and again whenever the progress changes."""
        if report is None:
            yield
            return
        self._observers.setdefault(sandbox, []).append(report)
        if (latest := self._latest.get(sandbox)) is not None:
            report(latest)
        try:
            yield
        finally:
            self._observers[sandbox].remove(report)
            if not self._observers[sandbox]:
                del self._observers[sandbox]
