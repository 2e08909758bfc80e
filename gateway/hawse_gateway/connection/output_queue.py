"""Queues one channel's frames and events in order until the client's connection can send them.

Contiguous bytes are merged into one chunk. Otherwise, a program printing single letters while the client is stalled
would take a hundred times as much memory as its output. The client's credit limits the size of the queue.
"""

from collections import deque
from typing import Final

from hawse.wire import Connection, Data, Error, Event, HawseError, Kind, RemoteProtocolError, Result
from hawse.wire.limits import EVENT_OVERHEAD

# In a longer queue, new bytes are added to their stream's last chunk even if other streams' chunks follow. The order of
# stdout and stderr is then lost.
CHUNKS: Final = 1024


class QueuedChunk:
    """Contiguous bytes of one stream."""

    __slots__ = ("data", "kind", "offset")

    def __init__(self, kind: Kind, offset: int, data: bytes | memoryview) -> None:
        self.kind = kind
        self.offset = offset  # the offset of the first byte in `data`
        self.data = bytearray(data)

    @property
    def end(self) -> int:
        return self.offset + len(self.data)


Item = QueuedChunk | Event | Result | Error


class OutputQueue:
    """The queue for one channel. The client has granted credit for everything in the queue."""

    def __init__(self) -> None:
        self._items: deque[Item] = deque()
        self._tails: dict[Kind, QueuedChunk] = {}  # each stream's last chunk since the last event

    def __bool__(self) -> bool:
        return bool(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def put_data(self, data: Data, limit: int) -> None:
        """Queue a copy of a frame's payload.

        Args:
            data: A frame.
            limit: The maximum size of a chunk, in bytes, which is the maximum payload of a frame.

        Raises:
            RemoteProtocolError: The queue has too many chunks, and the data cannot be merged because the stream has a
                gap.
        """
        tail = self._tails.get(data.kind)
        crowded = len(self._items) >= CHUNKS
        if tail is not None and (crowded or tail is self._items[-1]):
            if tail.end == data.offset and len(tail.data) + len(data.payload) <= limit:
                tail.data += data.payload
                return
            if crowded and tail.end != data.offset:
                raise RemoteProtocolError(f"a gap at {tail.end} in the stream {data.kind.name} of channel {data.ch}")
        for start in range(0, len(data.payload), limit):
            chunk = QueuedChunk(data.kind, data.offset + start, data.payload[start : start + limit])
            self._tails[data.kind] = chunk
            self._items.append(chunk)

    def put(self, message: Event | Result | Error) -> None:
        """Queue a message. Bytes queued later are sent after the message."""
        self._tails.clear()
        self._items.append(message)

    def clear(self) -> None:
        self._tails.clear()
        self._items.clear()

    def send(self, connection: Connection, ch: int, size: int) -> int:
        """Send about `size` bytes on `ch`, in frames of at most `size` bytes. Return the credit used."""
        cost = 0
        while self._items and cost < size and ch in connection.channels:
            item = self._items[0]
            if not isinstance(item, QueuedChunk):
                cost += send_message(item, connection, ch)
            elif cost and cost + len(item.data) > size:
                break
            elif len(item.data) > size:
                connection.send_data(ch, item.kind, item.offset, memoryview(item.data[:size]))
                del item.data[:size]
                item.offset += size
                return size
            else:
                connection.send_data(ch, item.kind, item.offset, memoryview(item.data))
                cost += len(item.data)
                if self._tails.get(item.kind) is item:
                    del self._tails[item.kind]
            self._items.popleft()
        return cost


def send_message(message: Event | Result | Error, connection: Connection, ch: int) -> int:
    """Send a message from a link's channel on the client's channel `ch`. Return the credit used.

    An event contains its channel number. If the number is longer on the client's connection than on the link and this
    makes an event too large, the channel ends with an error.
    """
    match message:
        case Event():
            try:
                connection.send_event(ch, message.name, message.value, seq=message.seq)
            except HawseError as error:
                connection.send_error(ch, error)
            return len(message.value) + EVENT_OVERHEAD
        case Result():
            connection.send_result(ch, message.value)
        case Error():
            connection.send_error(ch, message.to_exception())
    return 0
