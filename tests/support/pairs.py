"""A client's and a server's connection in one process, without a socket or an event loop, and a fake client for
bridges."""

from typing import Any

from hawse.wire import Connection, FairWriter, Limits, Role
from hawse_gateway.auth.principals import OWNER
from hawse_gateway.connection.credit_budget import CreditBudget


def carry(source: Connection, target: Connection) -> list[Any]:
    """Deliver all messages of `source` to `target`; return the events of `target`."""
    return deliver(source.data_to_send(), target)


def deliver(messages: list[str | bytes], target: Connection) -> list[Any]:
    """Deliver `messages` to `target`; return its events."""
    for message in messages:
        if isinstance(message, str):
            target.receive_text(message)
        else:
            target.receive_data(message)
    return list(target.events())


class Pair:
    """A client's and a server's connection, back to back, with the handshake done."""

    def __init__(self, *, window: int, input_window: int = 262_144) -> None:
        self.client = Connection(Role.CLIENT, window=window)
        self.server = Connection(Role.SERVER, Limits(input_window=input_window))
        self.client.send_hello("test")
        self.to_server()
        self.server.send_welcome("test", identity="", role="")
        self.to_client()

    def to_server(self) -> list[Any]:
        return carry(self.client, self.server)

    def to_client(self, messages: list[str | bytes] | None = None) -> list[Any]:
        return deliver(self.server.data_to_send() if messages is None else messages, self.client)


class FakeHost:
    """The client's side of a bridge. `read` returns the messages that the client receives."""

    principal = OWNER
    name = "127.0.0.1:9"
    paced = False

    def __init__(self, pair: Pair, budget: CreditBudget) -> None:
        self.pair = pair
        self.connection = pair.server
        self.writer = FairWriter(pair.server)
        self.budget = budget
        self.waiting = 0
        self.released: list[int] = []

    def flush(self) -> None: ...

    def count_input(self, change: int) -> None:
        self.waiting += change

    def release(self, ch: int) -> None:
        self.released.append(ch)
        self.budget.close(ch)

    def read(self, size: int = 65_536) -> list[Any]:
        return self.pair.to_client(self.writer.take(size))
