"""`process.wait`: for the end of a process, a line of its output, an open port (docs/wire.md section 9)."""

import time
from typing import Any

import msgspec

from hawse.api.processes import ProcessWaitOpened, ProcessWaitResult
from hawse.client.calls.call import ClientCall, event_cost
from hawse.client.calls.decode import parse
from hawse.wire import Event, HawseError

WINDOW = 64 << 10  # bytes of events; there is one
LONGEST = 86_400.0  # seconds, as the protocol has it


class ProcessWaitCall(ClientCall):
    """After a cut it goes on where it began to search, for the time that is left."""

    def __init__(self, sandbox: str, params: dict[str, Any], *, timeout: float) -> None:
        super().__init__("process.wait", params, sandbox=sandbox, repeats=True, window=WINDOW)
        self._timeout = timeout
        self._until = time.monotonic() + timeout

    def params(self) -> dict[str, Any]:
        left = self._until - time.monotonic()
        return {**self.base, "timeout": min(max(left, 0.001), LONGEST)}

    def receive_event(self, event: Event) -> None:
        log = self.base.get("log")
        if event.name == "opened" and log is not None:
            start = parse(event.value, ProcessWaitOpened).start
            self.base["log"] = {**log, "since": {"stdout": start.stdout, "stderr": start.stderr}}
        self.spend(event_cost(event))

    def finished(self, value: msgspec.Raw) -> ProcessWaitResult:
        waited = parse(value, ProcessWaitResult)
        if waited.event == "timeout":
            raise HawseError("deadline_exceeded", f"nothing of that within {self._timeout:g} s", admitted="yes")
        return waited
