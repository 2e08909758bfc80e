"""The retry policy for calls: how long to wait for a connection, and how often to retry a resumable call."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hawse.client.base.backoff import Backoff
from hawse.client.base.options import Options
from hawse.client.calls.call import ClientCall


@dataclass
class RetryState:
    """A call waiting to be sent or retried."""

    backoff: Backoff
    since: float  # when the call's attempts started failing, according to the options' clock
    timer: asyncio.TimerHandle | None = None
    succeeded: float | None = None  # when the last attempt first got an event


class RetryPolicy:
    """The waiting calls, each with at most one timer."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._states: dict[ClientCall, RetryState] = {}

    def __iter__(self) -> Iterator[ClientCall]:
        return iter(self._states)

    def retry(self, call: ClientCall, again: Callable[[ClientCall], None]) -> bool:
        """Schedule `again(call)` after a delay, or return False if the call has been failing for too long."""
        options = self._options
        state = self._states.setdefault(call, self._begin())
        if state.succeeded is not None:
            state.since = options.clock()
            if state.since - state.succeeded >= options.stable:
                state.backoff.reset()
            state.succeeded = None
        if options.clock() - state.since >= options.unavailable_give_up:
            self.forget(call)
            return False
        state.timer = asyncio.get_running_loop().call_later(state.backoff.next(), again, call)
        return True

    def limit(self, call: ClientCall, expire: Callable[[ClientCall], None]) -> None:
        """Schedule `expire(call)` after the connect timeout, unless `forget` is called first. Does nothing if the
        call's timer is already running.
        """
        if call not in self._states:
            state = self._states[call] = self._begin()
            state.timer = asyncio.get_running_loop().call_later(self._options.connect_timeout, expire, call)

    def succeeded(self, call: ClientCall) -> None:
        """Record that the current attempt at `call` got an event. If it still fails soon, the delays keep growing."""
        state = self._states.get(call)
        if state is not None and state.succeeded is None:
            state.succeeded = self._options.clock()

    def forget(self, call: ClientCall) -> None:
        """Stop the timer of a call that is settled or was sent for the first time."""
        state = self._states.pop(call, None)
        if state and state.timer:
            state.timer.cancel()

    def _begin(self) -> RetryState:
        options = self._options
        backoff = Backoff(base=options.backoff_base, cap=options.backoff_cap, dice=options.dice)
        return RetryState(backoff, options.clock())
