"""Putting a snapshot together: a screen's frames arrive piece by piece, and are shown to nobody before the last."""

from hawse.client.base.results import Snapshot
from hawse.wire import RemoteProtocolError

SNAPSHOT_MAX = 64 << 20  # bytes: a screen with more scrollback than this is no screen


class SnapshotAssembly:
    """One snapshot on its way. Offsets of kind 3 count within it, from 0 (docs/wire.md section 3)."""

    def __init__(self, offset: int, size: int, cols: int, rows: int) -> None:
        if not 0 <= size <= SNAPSHOT_MAX:
            raise RemoteProtocolError(f"a snapshot of {size} bytes")
        self._offset = offset
        self._size = size
        self._cols = cols
        self._rows = rows
        self._data = bytearray()

    def add(self, offset: int, payload: memoryview | bytes) -> None:
        if offset != len(self._data) or offset + len(payload) > self._size:
            raise RemoteProtocolError(f"bytes of a snapshot at {offset}; {len(self._data)} came of {self._size}")
        self._data += payload

    def finished(self) -> Snapshot | None:
        """The snapshot, if it is whole."""
        if len(self._data) < self._size:
            return None
        return Snapshot(self._offset, bytes(self._data), self._cols, self._rows)
