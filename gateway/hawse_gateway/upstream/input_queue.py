"""Queues a channel's input for the runtime: bytes, `end` and `cancel`, in order.

The link's writer drains the queues of all of the sandbox's channels in turn. The input window limits a queue's
size. While too much of a client's input is queued, nothing more is read from the client.
"""

from collections import deque
from collections.abc import Callable
from typing import Final

from hawse.wire import Cancel, Connection, Data, End, Kind

OVERHEAD: Final = 256  # overhead per queued message, in bytes


class InputQueue:
    """A channel's queue. Implements `FrameSource` for the link's `FairWriter`."""

    def __init__(self, changed: Callable[[int], None], *, whole: bool = True) -> None:
        """Create an empty queue.

        Args:
            changed: Called with the change in the queue's size, in bytes.
            whole: Whether frames must not be split, because the runtime applies all bytes in a frame at once.
        """
        self._changed = changed
        self._whole = whole
        self._items: deque[Data | End | Cancel] = deque()

    def __bool__(self) -> bool:
        return bool(self._items)

    def put(self, item: Data | End | Cancel) -> None:
        """Queue an item. A frame's payload is not copied, so it must be a view of immutable bytes."""
        self._items.append(item)
        self._changed(cost(item))

    def clear(self) -> None:
        while self._items:
            self._changed(-cost(self._items.popleft()))

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        """Send about `size` bytes. Return whether more can be sent now."""
        while self._items and size > 0:
            item = self._items[0]
            if isinstance(item, Data) and len(item.payload) > (window := connection.window(ch)):
                if window and not self._whole:
                    self._send_part(item, window, connection, ch)
                return False  # the next `credit` message makes the channel continue
            self._items.popleft()
            self._changed(-cost(item))
            size -= cost(item)
            send(item, connection, ch)
        return bool(self._items)

    def _send_part(self, item: Data, size: int, connection: Connection, ch: int) -> None:
        """Send the first `size` bytes of the first frame, and keep the rest in the queue."""
        connection.send_data(ch, Kind.INPUT, item.offset, item.payload[:size])
        self._items[0] = Data(item.kind, item.ch, item.offset + size, item.payload[size:])
        self._changed(-size)


def send(item: Data | End | Cancel, connection: Connection, ch: int) -> None:
    match item:
        case Data():
            connection.send_data(ch, Kind.INPUT, item.offset, item.payload)
        case End():
            connection.end(ch)
        case Cancel():
            connection.cancel(ch)


def cost(item: Data | End | Cancel) -> int:
    return OVERHEAD + (len(item.payload) if isinstance(item, Data) else 0)
