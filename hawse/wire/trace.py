"""W3C Trace Context, level 2: the `traceparent` that connects a call with the request that caused it.

https://www.w3.org/TR/trace-context-2/
"""

import random
import re
from typing import NamedTuple

# Versions after 00 may add fields, but the first four keep their meaning.
_FORM = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.ASCII)


class Trace(NamedTuple):
    """The trace a call belongs to, and the call's span in it.

    Attributes:
        id: The trace: 32 hexadecimal digits.
        span: The call's span: 16 hexadecimal digits.
        flags: 2 hexadecimal digits; bit 0 is set if the caller records the trace.
    """

    id: str
    span: str
    flags: str = "00"

    @classmethod
    def parse(cls, text: str | None) -> "Trace | None":
        """Parse a `traceparent`. Returns None if it is invalid; an invalid one must be treated as missing."""
        found = _FORM.fullmatch(text) if text else None
        if found is None or found[1] == "ff" or (found[1] == "00" and found[5]):
            return None
        trace = cls(found[2], found[3], found[4])
        return trace if trace.id.strip("0") and trace.span.strip("0") else None

    @classmethod
    def below(cls, parent: str | None) -> "Trace":
        """Return a new child span of a `traceparent`, or a span in a new trace if it is missing or invalid.

        The ids only distinguish calls, so their random generator doesn't have to be secure.
        """
        known = cls.parse(parent)
        span = f"{random.getrandbits(64) | 1:016x}"  # never zero
        if known is None:
            return cls(f"{random.getrandbits(128) | 1:032x}", span)
        return cls(known.id, span, known.flags)

    def __str__(self) -> str:
        return f"00-{self.id}-{self.span}-{self.flags}"
