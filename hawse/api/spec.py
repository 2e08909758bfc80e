"""What a method is: the types of what goes in and comes out, for whoever serves, calls or documents it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec


class Nothing(msgspec.Struct):
    """No parameters, or an answer that only says: done."""


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What a server says. Fields that are not known are ignored; one that is added later has a default."""


class Spec(NamedTuple):
    """One method of `docs/wire.md` section 9. What the wire says in words, this says in types.

    A *stream* keeps its channel open: it has events, sends bytes, or takes some. Everything else is one answer.
    """

    params: Any  # a msgspec struct: its docstring says what the method does
    result: Any  # what the `result` carries
    events: Mapping[str, Any] = {}  # by name: what an `event` carries
    output: tuple[str, ...] = ()  # names of the byte streams it sends, by frame kind from 1 on
    input: bool = False  # it takes bytes
    viewer: bool = False  # the role `viewer` may call it (section 10)

    @property
    def stream(self) -> bool:
        return bool(self.events or self.output or self.input)

    @property
    def summary(self) -> str:
        """The first line of what the method does."""
        return (self.params.__doc__ or "").strip().partition("\n")[0]
