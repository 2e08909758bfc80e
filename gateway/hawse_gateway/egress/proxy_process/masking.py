"""Hides secrets in an answer, because servers may repeat the request. The length of the answer does not change."""

import re
from collections.abc import Sequence


class Mask:
    """Hides texts in a stream of bytes, even when they are split, in upper or lower case.

    Args:
        hidden: The texts. Texts shorter than `SHORTEST` bytes are not hidden: they would occur by chance.
    """

    SHORTEST = 4

    def __init__(self, hidden: Sequence[bytes]) -> None:
        found = sorted((text for text in hidden if len(text) >= self.SHORTEST), key=len, reverse=True)
        self._hidden = [text.lower() for text in found]
        self._longest = len(found[0]) if found else 0
        self._pattern = re.compile(b"|".join(re.escape(text) for text in found), re.IGNORECASE) if found else None
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """Return data that can be passed on so far. Data that may start a hidden text is held back."""
        data = self.hide(self._held + data)
        held = self._beginning(data)
        self._held = data[len(data) - held :]
        return data[: len(data) - held]

    def end(self) -> bytes:
        """Return the data held back, at the end of the stream.

        The start of a text is not hidden: a program that lets a server repeat its guesses could learn the text from the
        asterisks, one character at a time.
        """
        held, self._held = self._held, b""
        return held

    def hide(self, data: bytes) -> bytes:
        """Return complete data with the texts hidden."""
        if self._pattern is None:
            return data
        return self._pattern.sub(lambda found: b"*" * len(found[0]), data)

    def _beginning(self, data: bytes) -> int:
        """Return the number of bytes at the end of `data` that may start a hidden text."""
        tail = data[-(self._longest - 1) :].lower() if self._longest else b""
        for size in range(len(tail), 0, -1):
            end = tail[-size:]
            if any(text.startswith(end) for text in self._hidden):
                return size
        return 0
