"""`terminal.wait`: for a match, silence, the end of a command or of the program (docs/wire.md section 9)."""

import time
from typing import Any

import msgspec

from hawse.api.automation import TerminalWaitOpened, TerminalWaitResult
from hawse.client.calls.call import ClientCall, event_cost
from hawse.client.calls.decode import parse
from hawse.wire import Event

WINDOW = 64 << 10  # bytes of events; there is one


class TerminalWaitCall(ClientCall):
    """`terminal.wait`. After a cut it goes on where it began, for the time that is left."""

    def __init__(self, sandbox: str, params: dict[str, Any], *, timeout: float) -> None:
        super().__init__("terminal.wait", params, sandbox=sandbox, repeats=True, window=WINDOW)
        self._until = time.monotonic() + timeout

    def params(self) -> dict[str, Any]:
        return {**self.base, "timeout": max(self._until - time.monotonic(), 0.001)}

    def receive_event(self, event: Event) -> None:
        if event.name == "opened" and self.base.get("on") != "screen":
            self.base.setdefault("since", parse(event.value, TerminalWaitOpened).start)
        self.spend(event_cost(event))

    def finished(self, value: msgspec.Raw) -> TerminalWaitResult:
        return parse(value, TerminalWaitResult)
