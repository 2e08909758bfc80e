"""Masks secrets in responses, because servers may echo the request. Masking doesn't change the response's length."""

import re
from collections.abc import Sequence


class Mask:
    """Masks strings in a byte stream, ignoring case. It also finds strings that are split across chunks.

    Args:
        hidden: The strings to mask. Strings shorter than `SHORTEST` bytes aren't masked, because they could occur by
            chance.
    """

    SHORTEST = 4

    def __init__(self, hidden: Sequence[bytes]) -> None:
        found = sorted((text for text in hidden if len(text) >= self.SHORTEST), key=len, reverse=True)
        self._hidden = [text.lower() for text in found]
        self._longest = len(found[0]) if found else 0
        self._pattern = re.compile(b"|".join(re.escape(text) for text in found), re.IGNORECASE) if found else None
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """Return the masked data that can be forwarded. Data that could be the start of a hidden string is held
        back."""
        data = self.hide(self._held + data)
        held = self._beginning(data)
        self._held = data[len(data) - held :]
        return data[: len(data) - held]

    def end(self) -> bytes:
        """Return the held-back data at the end of the stream.

        An incomplete string is not masked. Otherwise, a program could make a server echo guesses of increasing length
        and infer the string from the asterisks.
        """
        held, self._held = self._held, b""
        return held

    def hide(self, data: bytes) -> bytes:
        """Mask the strings in `data`, which must be complete."""
        if self._pattern is None:
            return data
        return self._pattern.sub(lambda found: b"*" * len(found[0]), data)

    def _beginning(self, data: bytes) -> int:
        """Return how many bytes at the end of `data` could be the start of a hidden string."""
        tail = data[-(self._longest - 1) :].lower() if self._longest else b""
        for size in range(len(tail), 0, -1):
            end = tail[-size:]
            if any(text.startswith(end) for text in self._hidden):
                return size
        return 0
