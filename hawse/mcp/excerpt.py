"""Keeps the beginning and end of output of any length."""

import codecs
from typing import Final

CONTINUATION: Final = range(0x80, 0xC0)  # bytes that cannot start a UTF-8 character


class Excerpt:
    """The first and last bytes of output."""

    def __init__(self, limit: int) -> None:
        """Create an excerpt that keeps `limit` bytes, half from the start and half from the end."""
        self._half = limit // 2
        self._head = bytearray()
        self._tail = bytearray()
        self.size = 0  # number of bytes added

    @property
    def start(self) -> int:
        """The offset of the first omitted byte."""
        return len(self._head)

    @property
    def missing(self) -> int:
        """The number of omitted bytes."""
        return self.size - len(self._head) - min(len(self._tail), self._half)

    def add(self, data: bytes) -> None:
        self.size += len(data)
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room > 0 else data
        if len(self._tail) > 2 * self._half:
            del self._tail[: -self._half]

    def text(self, hint: str = "") -> str:
        """Return the kept bytes as text, with a note in place of omitted bytes. Invalid bytes are replaced by U+FFFD.

        Args:
            hint: How to get the omitted bytes; the note includes it.
        """
        missing = self.missing
        if not missing:
            return bytes(self._head + self._tail).decode(errors="replace")
        tail = bytes(self._tail[-self._half :])
        first = next((at for at, byte in enumerate(tail[:4]) if byte not in CONTINUATION), 0)
        head = codecs.getincrementaldecoder("utf-8")("replace").decode(bytes(self._head))
        note = f"[{missing:,} bytes are omitted here{f': {hint}' if hint else ''}]"
        return f"{head}\n{note}\n{tail[first:].decode(errors='replace')}"


def excerpt(text: str, limit: int, hint: str = "") -> str:
    """Return `text`, shortened to about `limit` bytes of UTF-8 by omitting its middle. See `Excerpt.text`."""
    data = text.encode(errors="replace")
    if len(data) <= limit:
        return text
    kept = Excerpt(limit)
    kept.add(data)
    return kept.text(hint)
