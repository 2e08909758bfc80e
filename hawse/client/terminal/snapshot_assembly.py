"""Assembles a screen snapshot from its frames."""

from hawse.client.base.results import Snapshot
from hawse.wire import RemoteProtocolError

SNAPSHOT_MAX = 64 << 20  # maximum size in bytes; a screen with all its scrollback is smaller


class SnapshotAssembly:
    """A snapshot. Its frames, of kind 3, have offsets relative to its start (docs/wire.md section 3)."""

    def __init__(self, offset: int, size: int, cols: int, rows: int) -> None:
        if not 0 <= size <= SNAPSHOT_MAX:
            raise RemoteProtocolError(f"a snapshot has {size} bytes; at most {SNAPSHOT_MAX} are allowed")
        self._offset = offset
        self._size = size
        self._cols = cols
        self._rows = rows
        self._data = bytearray()

    def add(self, offset: int, payload: memoryview | bytes) -> None:
        """Append a frame. Raises `RemoteProtocolError` if it is not the next one."""
        if offset != len(self._data) or offset + len(payload) > self._size:
            arrived = f"{len(self._data)} of {self._size} bytes have arrived"
            raise RemoteProtocolError(f"a snapshot's frame is at offset {offset}, but {arrived}")
        self._data += payload

    def finished(self) -> Snapshot | None:
        """Return the snapshot if it is complete."""
        if len(self._data) < self._size:
            return None
        return Snapshot(self._offset, bytes(self._data), self._cols, self._rows)
