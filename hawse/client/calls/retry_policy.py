"""How long a call waits for better times: for a line if it was never sent, for its sandbox if it can be resumed."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hawse.client.base.backoff import Backoff
from hawse.client.base.options import Options
from hawse.client.calls.call import ClientCall


@dataclass
class RetryState:
    """What is known about one call's waiting."""

    backoff: Backoff
    since: float  # when it began, by the options' clock
    timer: asyncio.TimerHandle | None = None
    opened: float | None = None  # when it was over, as far as one could see


class RetryPolicy:
    """The calls that wait, each with at most one timer."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._troubles: dict[ClientCall, RetryState] = {}

    def __iter__(self) -> Iterator[ClientCall]:
        return iter(self._troubles)

    def retry(self, call: ClientCall, again: Callable[[ClientCall], None]) -> bool:
        """Call `again` after a pause; False if `call` has been in trouble for too long."""
        options = self._options
        trouble = self._troubles.setdefault(call, self._begin())
        if trouble.opened is not None:
            trouble.since = options.clock()
            if trouble.since - trouble.opened >= options.stable:
                trouble.backoff.reset()
            trouble.opened = None
        if options.clock() - trouble.since >= options.unavailable_give_up:
            self.forget(call)
            return False
        trouble.timer = asyncio.get_running_loop().call_later(trouble.backoff.next(), again, call)
        return True

    def limit(self, call: ClientCall, expire: Callable[[ClientCall], None]) -> None:
        """Call `expire` if nothing makes us `forget` it within the connect timeout. Again, it does nothing."""
        if call not in self._troubles:
            trouble = self._troubles[call] = self._begin()
            trouble.timer = asyncio.get_running_loop().call_later(self._options.connect_timeout, expire, call)

    def opened(self, call: ClientCall) -> None:
        """It works again. If that does not last, the pauses go on growing."""
        if trouble := self._troubles.get(call):
            trouble.opened = self._options.clock()

    def forget(self, call: ClientCall) -> None:
        """The call is settled, or was sent for the first time."""
        trouble = self._troubles.pop(call, None)
        if trouble and trouble.timer:
            trouble.timer.cancel()

    def _begin(self) -> RetryState:
        options = self._options
        backoff = Backoff(base=options.backoff_base, cap=options.backoff_cap, dice=options.dice)
        return RetryState(backoff, options.clock())
