"""Remembers keys whose outcomes are no longer kept, in as little memory as possible.

The table is allocated in full at the start, so that a server's memory does not keep growing while the table fills up.
"""

import hashlib
from array import array

_DIGEST = 8  # size in bytes; with 65,536 keys, a new key is mistaken for a used one once in 2^48 calls
_EMPTY = 0


class UsedKeys:
    """The `limit` most recently added keys: a hash table of digests with linear probing and 24 bytes per key."""

    def __init__(self, limit: int) -> None:
        """Create an empty set that keeps `limit` keys and forgets the oldest keys first."""
        self._limit = limit
        size = 1 << (2 * max(limit, 1) - 1).bit_length()  # at most half of the table's slots are used
        self._mask = size - 1
        self._slots = array("Q", bytes(size * _DIGEST))
        self._ring = array("Q")  # the digests in order of insertion, starting at `_oldest`
        self._oldest = 0

    def __contains__(self, key: str) -> bool:
        digest = _digest(key)
        return self._slots[self._place(digest)] == digest

    def __len__(self) -> int:
        return len(self._ring)

    def add(self, key: str) -> None:
        """Add a key, and forget the oldest key if there are too many. An existing key keeps its age."""
        if self._limit < 1 or key in self:
            return
        digest = _digest(key)
        if len(self._ring) < self._limit:
            self._ring.append(digest)
        else:
            self._remove(self._ring[self._oldest])
            self._ring[self._oldest] = digest
            self._oldest = (self._oldest + 1) % self._limit
        self._slots[self._place(digest)] = digest

    def _place(self, digest: int) -> int:
        """Return a digest's slot, or the empty slot where it belongs."""
        slots, mask = self._slots, self._mask
        at = digest & mask
        while slots[at] not in (digest, _EMPTY):
            at = (at + 1) & mask
        return at

    def _remove(self, digest: int) -> None:
        """Empty a digest's slot, and move up later digests that could otherwise no longer be found."""
        slots, mask = self._slots, self._mask
        hole = at = self._place(digest)
        while True:
            at = (at + 1) & mask
            if (moved := slots[at]) == _EMPTY:
                break
            if (at - moved) & mask >= (at - hole) & mask:  # otherwise, a later search for the moved digest would fail
                slots[hole] = moved
                hole = at
        slots[hole] = _EMPTY


def _digest(key: str) -> int:
    hashed = hashlib.blake2b(key.encode(errors="surrogatepass"), digest_size=_DIGEST).digest()
    return int.from_bytes(hashed) or 1  # not `_EMPTY`
