"""Keeps the start and the end of an output of any length."""

import codecs
from typing import Final

CONTINUATION: Final = range(0x80, 0xC0)  # bytes that cannot start a character of UTF-8


class Excerpt:
    """The first and the last bytes of an output."""

    def __init__(self, limit: int) -> None:
        """`limit`: number of bytes to keep, half from the start and half from the end."""
        self._half = limit // 2
        self._head = bytearray()
        self._tail = bytearray()
        self.size = 0  # bytes that were added

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
        """Return the kept bytes as text, with a note where bytes are omitted; invalid bytes become U+FFFD.

        Args:
            hint: The note's hint on how to get them.
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
    """Return `text`, cut in its middle to about `limit` bytes of UTF-8, with a note there: see `Excerpt.text`."""
    data = text.encode(errors="replace")
    if len(data) <= limit:
        return text
    kept = Excerpt(limit)
    kept.add(data)
    return kept.text(hint)
