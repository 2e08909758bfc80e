"""What goes on in a sandbox: whether it may sleep, and the refusal of calls to one that is about to.

Something goes on while a call is open other than one that only watches, while a process or a command runs, or while a
terminal has a viewer or prints. A shell that waits for a command in a terminal or a session without a client is not
activity, since shells are left open for ever.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Protocol

from hawse.api import Spec
from hawse.api.runtime import RuntimeActivity, RuntimeActivityResult
from hawse.rpc import handles
from hawse.rpc.dispatcher import ServedCall
from hawse.wire import HawseError

BUSY_MAX = 16  # entries of `busy`: it is for people

# What runs now, in words, and the loop's time at which something of it ended last.
Source = Callable[[], tuple[Iterable[str], float | None]]


class Printing(Protocol):
    """Counts what it has printed."""

    @property
    def output(self) -> int: ...


class TerminalOutput:
    """A source: terminals that have printed something since the last question."""

    def __init__(self, terminals: Printing) -> None:
        self._terminals = terminals
        self._output = 0  # bytes at the last question

    def __call__(self) -> tuple[list[str], None]:
        before, self._output = self._output, self._terminals.output
        return ["output of terminals"] if self._output != before else [], None


class ActivityMethods:
    """Tracks calls itself, and asks `sources` for everything else when the gateway asks."""

    def __init__(self, sources: Iterable[Source], previews: Callable[[], list[str]] = list) -> None:
        self._sources = list(sources)
        self._previews = previews  # the digests of the tokens of previews
        self._clock = asyncio.get_running_loop().time
        self._last = self._clock()  # when a call began or ended last, or something was seen to run
        self._open = 0  # calls, without those that only watch
        self._asleep = False

    def note_call(self, call: ServedCall, spec: Spec) -> None:
        """Count a call while it is open. Raises `HawseError` (`unavailable`) if the runtime is about to be stopped."""
        if self._asleep and spec.params is not RuntimeActivity:
            raise HawseError("unavailable", "the sandbox goes to sleep")
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
        if busy:
            self._last = self._clock()
            return RuntimeActivityResult(idle=0.0, busy=busy[:BUSY_MAX], asleep=False)
        self._last = max(ended)
        idle = max(self._clock() - self._last, 0.0)
        self._asleep = self._asleep or (params.sleep_after is not None and idle >= params.sleep_after)
        previews = self._previews() if self._asleep else None
        return RuntimeActivityResult(idle=idle, busy=[], asleep=self._asleep, previews=previews)
