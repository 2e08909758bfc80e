"""`terminal.wait`: waits for a match, for silence, or for a command or program to end (docs/wire.md section 9)."""

import time

import msgspec

from hawse.api.terminals import TerminalWait, TerminalWaitOpened
from hawse.client.calls.call import ClientCall, event_cost
from hawse.wire import Event

WINDOW = 64 << 10  # credit in bytes; the call has only one event


class TerminalWaitCall(ClientCall):
    """A call to `terminal.wait`. If the connection is lost, the wait later continues from the same offset, within the
    remaining time.
    """

    def __init__(self, params: TerminalWait, *, sandbox: str, timeout: float) -> None:
        """Prepare a call that waits at most `timeout` seconds. This value replaces the `timeout` in `params`."""
        super().__init__(params, sandbox=sandbox, repeats=True, window=WINDOW)
        self._wait = params
        self._until = time.monotonic() + timeout

    def params(self) -> TerminalWait:
        return msgspec.structs.replace(self._wait, timeout=max(self._until - time.monotonic(), 0.001))

    def receive_event(self, event: Event) -> None:
        match self.decode(event):
            case TerminalWaitOpened(start=start) if self._wait.on != "screen" and self._wait.since is None:
                self._wait = msgspec.structs.replace(self._wait, since=start)
        self.spend(event_cost(event))
