"""uvicorn's set of connections and the gateway's WebSocket protocol, with events that tests wait for."""

from typing import Any

from hawse_gateway.transport.message_socket import Receiver
from hawse_gateway.transport.uvicorn_websocket import WebSocketProtocol
from tests.support.waiting import Changes


class ObservedConnections(set[Any]):
    """The connections of a server. Notifies tests when one is added or removed, or when a WebSocket changes."""

    def __init__(self) -> None:
        super().__init__()
        self.changes = Changes()

    def add(self, element: object) -> None:
        super().add(element)
        self.changes.notify()

    def discard(self, element: object) -> None:
        super().discard(element)
        self.changes.notify()

    def remove(self, element: object) -> None:
        super().remove(element)
        self.changes.notify()


class ObservedWebSocket(WebSocketProtocol):
    """Notifies tests when its receiver changes, when its buffer is full, and when it stops reading."""

    def attach(self, receiver: Receiver | None) -> None:
        super().attach(receiver)
        self._notify()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._notify()

    def pause_reading(self) -> None:
        super().pause_reading()
        self._notify()

    def _notify(self) -> None:
        assert isinstance(self.connections, ObservedConnections)
        self.connections.changes.notify()
