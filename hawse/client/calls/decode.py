"""What servers say is checked on arrival against `hawse.api`, so that nothing behind is surprised."""

from typing import TypeVar

import msgspec

from hawse.wire import RemoteProtocolError

T = TypeVar("T")


def parse(raw: bytes | msgspec.Raw, shape: type[T]) -> T:
    """Decode a value. Raises `RemoteProtocolError` if it is not what the protocol promises."""
    try:
        return msgspec.json.decode(raw, type=shape)
    except ValueError as error:
        raise RemoteProtocolError(f"not a {shape.__name__}: {error}") from None
