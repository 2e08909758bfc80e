"""Tracks activity in a sandbox to decide whether it can sleep. Rejects calls once the sandbox is about to sleep.

Activity is an open call (unless the call is passive), a running process or command, or a terminal that has a viewer or
new output. An idle shell without a client doesn't count, because shells stay open indefinitely.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Protocol

from hawse.api import Spec
from hawse.api.runtime import RuntimeActivity, RuntimeActivityResult
from hawse.rpc import handles
from hawse.rpc.dispatcher import ServedCall
from hawse.wire import HawseError

BUSY_MAX = 16  # maximum number of entries in `busy`, which is shown to users

# A function that returns descriptions of the work in progress, and the loop time when such work last ended.
Source = Callable[[], tuple[Iterable[str], float | None]]


class Printing(Protocol):
    """An object that counts the bytes printed by terminals."""

    @property
    def output(self) -> int: ...


class TerminalOutput:
    """Reports activity in terminals that have printed something since the previous query."""

    def __init__(self, terminals: Printing) -> None:
        self._terminals = terminals
        self._output = 0  # total bytes printed as of the previous query

    def __call__(self) -> tuple[list[str], None]:
        before, self._output = self._output, self._terminals.output
        return ["output of terminals"] if self._output != before else [], None


class ActivityMethods:
    """Tracks open calls, and queries `sources` about other activity when the gateway asks."""

    def __init__(self, sources: Iterable[Source], previews: Callable[[], list[str]] = list) -> None:
        self._sources = list(sources)
        self._previews = previews  # returns the digests of preview tokens
        self._clock = asyncio.get_running_loop().time
        self._last = self._clock()  # when a call last started or ended, or when other activity was last seen
        self._open = 0  # number of open calls, not counting passive ones
        self._asleep = False

    def note_call(self, call: ServedCall, spec: Spec) -> None:
        """Count a call while it is open. Raises `HawseError` (`unavailable`) if the sandbox is about to sleep."""
        if self._asleep and spec.params is not RuntimeActivity:
            raise HawseError("unavailable", "the sandbox is about to sleep")
        if not spec.passive:
            self._open += 1
            self._last = self._clock()
            call.on_close(self._call_closed)

    def _call_closed(self) -> None:
        self._open -= 1
        self._last = self._clock()

    @handles(RuntimeActivity)
    def _activity(self, params: RuntimeActivity) -> RuntimeActivityResult:
        busy, ended = [], [self._last]
        for source in self._sources:
            running, last = source()
            busy += list(running)
            ended += [last] if last is not None else []
        if self._open:
            busy.append(f"{self._open} calls")
        previews = self._previews()
        if busy:
            self._last = self._clock()
            return RuntimeActivityResult(idle=0.0, busy=busy[:BUSY_MAX], asleep=False, previews=previews)
        self._last = max(ended)
        idle = max(self._clock() - self._last, 0.0)
        self._asleep = self._asleep or (params.sleep_after is not None and idle >= params.sleep_after)
        return RuntimeActivityResult(idle=idle, busy=[], asleep=self._asleep, previews=previews)
