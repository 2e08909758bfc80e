"""How far the starts of this gateway are. It is not stored: another gateway shows `starting` without a phase."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hawse_gateway.providers.base import Progress, Report

log = logging.getLogger(__name__)


class ProgressTable:
    """The latest progress of each sandbox, and those that want to know it."""

    def __init__(self) -> None:
        self.on_change: Callable[[str], None] | None = None  # gets the id of the sandbox
        self._latest: dict[str, Progress] = {}
        self._observers: dict[str, list[Report]] = {}

    def report(self, sandbox: str, progress: Progress | None) -> None:
        """Note the progress of a start, or None at its end."""
        if progress is None:
            self._latest.pop(sandbox, None)
            return
        self._latest[sandbox] = progress
        for observer in list(self._observers.get(sandbox, ())):
            try:
                observer(progress)
            except Exception:  # it must not end the start
                log.exception("! progress of sandbox %s", sandbox)
        if self.on_change is not None:
            self.on_change(sandbox)

    def latest(self, sandbox: str) -> Progress | None:
        return self._latest.get(sandbox)

    @contextmanager
    def observed(self, sandbox: str, report: Report | None) -> Iterator[None]:
        """Call `report` with the progress of a sandbox, beginning with the present one."""
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
