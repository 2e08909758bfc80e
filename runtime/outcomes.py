"""Calls that run once: what became of each key (docs/wire.md section 6)."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from hawse.wire import HawseError

KEPT = 4096  # outcomes
KEPT_FOR = 3600.0  # seconds
REMEMBERED = 65_536  # keys of which only the use is known

Fingerprint = tuple[str, bytes]  # the method and the params as they came


class Outcome:
    """Of one key: running, or done with a value or an error."""

    def __init__(self, fingerprint: Fingerprint, at: float) -> None:
        self.fingerprint = fingerprint
        self.at = at
        self.done = False
        self._value: Any = None
        self._error: HawseError | None = None
        self._waiting: list[tuple[Callable[[Any], None], Callable[[HawseError], None]]] = []

    def succeed(self, value: Any) -> None:
        self._value = value
        self._settle()

    def fail(self, error: HawseError) -> None:
        self._error = error
        self._settle()

    def tell(self, succeed: Callable[[Any], None], fail: Callable[[HawseError], None]) -> None:
        """Call one of the two, now or when it is done."""
        if not self.done:
            self._waiting.append((succeed, fail))
        elif self._error is not None:
            fail(self._error)
        else:
            succeed(self._value)

    def _settle(self) -> None:
        self.done = True
        waiting, self._waiting = self._waiting, []
        for succeed, fail in waiting:
            self.tell(succeed, fail)


class Outcomes:
    """The outcomes by key, bounded in number and age; running ones are never dropped."""

    def __init__(self, clock: Callable[[], float] | None = None) -> None:
        self._clock = clock or asyncio.get_running_loop().time
        self._outcomes: OrderedDict[str, Outcome] = OrderedDict()
        self._used: OrderedDict[str, None] = OrderedDict()

    def join(self, key: str, fingerprint: Fingerprint) -> Outcome | None:
        """The outcome of `key`, None if it is new. Raises `key_conflict` and `outcome_unknown`."""
        self._forget()
        outcome = self._outcomes.get(key)
        if outcome is None:
            if key in self._used:
                raise HawseError("outcome_unknown", "the key was used; its outcome is no longer kept", admitted="yes")
            return None
        if outcome.fingerprint != fingerprint:
            raise HawseError("key_conflict", "the key belongs to another call")
        return outcome

    def begin(self, key: str, fingerprint: Fingerprint) -> Outcome:
        outcome = self._outcomes[key] = Outcome(fingerprint, self._clock())
        return outcome

    def _forget(self) -> None:
        oldest = self._clock() - KEPT_FOR
        excess = len(self._outcomes) - KEPT
        forgotten: list[str] = []
        for key, outcome in self._outcomes.items():  # oldest first
            if len(forgotten) >= excess and outcome.at >= oldest:
                break
            if outcome.done:
                forgotten.append(key)
        for key in forgotten:
            del self._outcomes[key]
            self._used[key] = None
        while len(self._used) > REMEMBERED:
            self._used.popitem(last=False)
