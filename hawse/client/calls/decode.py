"""Decodes values from servers, using the types in `hawse.api`."""

from typing import TypeVar

import msgspec

from hawse.wire import RemoteProtocolError

T = TypeVar("T")


def parse(raw: bytes | msgspec.Raw, kind: type[T]) -> T:
    """Decode JSON as the type `kind`. Raises `RemoteProtocolError` if it is invalid."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except ValueError as error:
        raise RemoteProtocolError(f"the server sent an invalid {kind.__name__}: {error}") from None
