"""An in-memory WebSocket of a machine, for tests of the code behind the endpoint."""

from typing import Any

import msgspec

from hawse_gateway.providers.joined.machines import Machine

RUNTIME = "0123456789abcdef"


class FakeSocket:
    """Records written messages.

    Attributes:
        written: All messages.
        has_room: Whether it accepts more messages.
        reading: Whether reading is enabled.
    """

    def __init__(self) -> None:
        self.written: list[str | bytes] = []
        self.has_room = True
        self.reading = True

    def attach(self, receiver: Any) -> None: ...

    def write(self, message: str | bytes) -> None:
        self.written.append(message)

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def texts(self) -> list[dict[str, Any]]:
        """The text messages."""
        return [msgspec.json.decode(message) for message in self.written if isinstance(message, str)]


async def stopped(sandbox: str) -> str:
    """Return a reason for the end of a sandbox."""
    return f"{sandbox} was stopped"


def machine(socket: FakeSocket | None = None, *, runtime: str = RUNTIME, running: bool = True) -> Machine:
    made = Machine(socket or FakeSocket(), sandbox="laptop", unit="unit", runtime=runtime, why=stopped)
    made.running = running
    return made
