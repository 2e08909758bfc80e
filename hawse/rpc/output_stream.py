"""Base classes for streams that only send: events, bytes, or the latest state of a changing value."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hawse.wire import Connection, HawseError

if TYPE_CHECKING:
    from hawse.rpc.call import ServerCall


class OutputOnlyStream(ABC):
    """A `Stream` without input. If input arrives, the channel is closed with `protocol_error`."""

    def __init__(self, call: "ServerCall") -> None:
        self._call = call

    @abstractmethod
    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        """Send at most `size` bytes on channel `ch`. Returns whether more can be sent now."""

    def receive_input(self, offset: int, payload: memoryview) -> None:
        raise HawseError("protocol_error", f"{self._call.method} takes no input")

    def receive_end(self) -> None:  # noqa: B027  # not abstract: this is all there is to do
        """Ignore a half-close of the unused direction."""

    @abstractmethod
    def detach(self) -> None:
        """Called once when the channel has closed."""

    def wake(self) -> None:
        """Request another `pull`, because there may be data to send."""
        self._call.wake()


class LatestValueStream(OutputOnlyStream):
    """Sends a value after each change. Changes are merged while there is no credit."""

    def __init__(
        self,
        call: "ServerCall",
        event: str,
        read: Callable[[], Any],
        on_detach: Callable[["LatestValueStream"], object],
        *,
        changed: bool = True,
    ) -> None:
        """Serve `call`.

        Args:
            event: The event name.
            read: Returns the current value. Called when the value is sent.
            on_detach: Called with this stream when the channel is closed.
            changed: Whether to send the first value immediately.
        """
        super().__init__(call)
        self._event = event
        self._read = read
        self._on_detach = on_detach
        self._changed = changed

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        if self._changed and connection.window(ch) > 0:
            self._changed = False
            connection.send_event(ch, self._event, self._read())
        return False

    def detach(self) -> None:
        self._on_detach(self)

    def changed(self) -> None:
        """Send the changed value as soon as there is credit."""
        self._changed = True
        self.wake()
