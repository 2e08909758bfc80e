"""Hides secrets in an answer: a server may repeat the request that it got. The length of the answer stays the same."""

from collections.abc import Sequence


class Mask:
    """Hides some texts in a stream of bytes, also where they are split.

    Args:
        hidden: The texts. One that is shorter than `SHORTEST` bytes is not hidden: it would occur by chance.
    """

    SHORTEST = 4

    def __init__(self, hidden: Sequence[bytes]) -> None:
        self._hidden = sorted((text for text in hidden if len(text) >= self.SHORTEST), key=len, reverse=True)
        self._longest = len(self._hidden[0]) if self._hidden else 0
        self._held = b""

    @property
    def holds(self) -> bool:
        """Whether something is kept back."""
        return bool(self._held)

    def feed(self, data: bytes) -> bytes:
        """Return what may be passed on so far. What may be the beginning of a hidden text is kept back."""
        data = self.hide(self._held + data)
        held = self._beginning(data)
        self._held = data[len(data) - held :]
        return data[: len(data) - held]

    def end(self) -> bytes:
        """Return what was kept back."""
        held, self._held = self._held, b""
        return held

    def hide(self, data: bytes) -> bytes:
        """Return complete data with the texts hidden."""
        for text in self._hidden:
            if text in data:
                data = data.replace(text, b"*" * len(text))
        return data

    def _beginning(self, data: bytes) -> int:
        """The number of bytes at the end of `data` that may be the beginning of a hidden text."""
        for size in range(min(self._longest - 1, len(data)), 0, -1):
            end = data[-size:]
            if any(text.startswith(end) for text in self._hidden):
                return size
        return 0
