"""Serves `recording.watch`: the recordings of a terminal, now and after every change, as often as they are read."""

from collections.abc import Callable
from typing import Any

from hawse.rpc.call import RuntimeCall
from hawse.wire import Connection, HawseError


class RecordingWatchStream:
    """A `Stream` of events without bytes. Changes that nobody has read yet are one."""

    def __init__(
        self, call: RuntimeCall, look: Callable[[], Any], on_detach: Callable[["RecordingWatchStream"], None]
    ) -> None:
        self._call = call
        self._look = look
        self._on_detach = on_detach
        self._changed = True

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        if self._changed and connection.window(ch) > 0:
            self._changed = False
            connection.send_event(ch, "recordings", self._look())
        return False

    def receive_input(self, offset: int, payload: memoryview) -> None:
        raise HawseError("protocol_error", "recording.watch takes no input")

    def receive_end(self) -> None:
        pass

    def detach(self) -> None:
        self._on_detach(self)

    def changed(self) -> None:
        self._changed = True
        self._call.wake()
