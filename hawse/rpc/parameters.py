"""Decodes a call's parameters.

An unknown parameter from a client is a mistake, so the first server that knows the method refuses it. The next server
can be older than the first, so it ignores parameters that it doesn't know.
"""

import re
from typing import Any, Final

import msgspec
import msgspec.inspect as types

from hawse.rpc.wording import alternatives, worded
from hawse.wire import HawseError
from hawse.wire.errors import sendable

_UNKNOWN_FIELD: Final = re.compile(r"Object contains unknown field `(.*?)`")  # msgspec's message


def decode(params: msgspec.Raw, shape: Any, *, checked: bool = False) -> Any:
    """Decode a call's parameters as the type `shape`.

    Args:
        params: The encoded parameters.
        shape: The type, usually a subclass of `Params`.
        checked: Whether a gateway has already refused unknown parameters. Any that remain belong to a later version and
            are ignored.

    Raises:
        HawseError: `invalid_params`; `details.path` is the location of the error, such as `$.since.stdout`.
    """
    try:
        try:
            return msgspec.json.decode(params, type=shape)
        except msgspec.ValidationError as error:
            if not checked or not _UNKNOWN_FIELD.match(str(error)):
                raise
        known = _known(msgspec.json.decode(params), types.type_info(shape))
        return msgspec.json.decode(msgspec.json.encode(known), type=shape)
    except (ValueError, RecursionError) as error:
        text = str(error)
        _, _, path = text.partition(" - at ")
        path = path.strip("`")
        if (unknown := _UNKNOWN_FIELD.match(text)) is not None:
            path = f"{path or '$'}.{sendable(unknown[1])}"
        raise HawseError("invalid_params", worded(text, shape), details={"path": path or None}) from None


def refuse_unknown(params: msgspec.Raw, shape: Any) -> None:
    """Refuse parameters with a field that the type `shape` doesn't have.

    Invalid values are left to the server that runs the call, because a later version may accept more values.

    Raises:
        HawseError: `invalid_params`, as from `decode`.
    """
    try:
        msgspec.json.decode(params, type=shape)
    except (ValueError, RecursionError) as error:
        if _UNKNOWN_FIELD.match(str(error)):
            decode(params, shape)


def _known(value: Any, kind: types.Type) -> Any:
    """Return a JSON value without the fields that its type doesn't have."""
    for one in alternatives(kind):
        if isinstance(one, types.StructType) and isinstance(value, dict):
            fields = {field.encode_name: field.type for field in one.fields}
            return {name: _known(item, fields[name]) for name, item in value.items() if name in fields}
        if isinstance(one, types.CollectionType) and isinstance(value, list):
            return [_known(item, one.item_type) for item in value]
        if isinstance(one, types.DictType) and isinstance(value, dict):
            return {name: _known(item, one.value_type) for name, item in value.items()}
    return value
