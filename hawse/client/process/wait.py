"""`process.wait`: waits for a process to end, a match in its output, or an open port (docs/wire.md section 9)."""

import time
from typing import Any

import msgspec

from hawse.api import Params
from hawse.api.processes import ProcessWait, ProcessWaitOpened, ProcessWaitResult, Since
from hawse.client.base.call_errors import DeadlineExceededError
from hawse.client.calls.call import ClientCall, event_cost
from hawse.wire import Event

WINDOW = 64 << 10  # credit in bytes; the call has only one event
LONGEST = 86_400.0  # the protocol's limit for a wait, in seconds


class ProcessWaitCall(ClientCall):
    """A call to `process.wait`. If the connection is lost, the search is later restarted from the same offset, within
    the remaining time.
    """

    def __init__(self, params: ProcessWait, *, sandbox: str, timeout: float) -> None:
        """Prepare a call that waits at most `timeout` seconds. This value replaces the `timeout` in `params`."""
        super().__init__(params, sandbox=sandbox, repeats=True, window=WINDOW)
        self._wait = params
        self._timeout = timeout
        self._until = time.monotonic() + timeout

    def params(self) -> Params[Any]:
        left = self._until - time.monotonic()
        return msgspec.structs.replace(self._wait, timeout=min(max(left, 0.001), LONGEST))

    def receive_event(self, event: Event) -> None:
        match self.decode(event):
            case ProcessWaitOpened(start=start) if self._wait.log is not None:
                since = Since(stdout=start.stdout, stderr=start.stderr)
                log = msgspec.structs.replace(self._wait.log, since=since)
                self._wait = msgspec.structs.replace(self._wait, log=log)
        self.spend(event_cost(event))

    def finished(self, value: msgspec.Raw) -> ProcessWaitResult:
        waited: ProcessWaitResult = super().finished(value)
        if waited.event == "timeout":
            message = f"the condition was not met within {self._timeout:g} s"
            raise DeadlineExceededError(message, admitted="yes")
        return waited
