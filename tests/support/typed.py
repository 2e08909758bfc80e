"""Compares values sent by a server with the types declared in `hawse.api`."""

from typing import Any

import msgspec

from hawse.api import GATEWAY, METHODS


def mistake(method: str, event: str | None, value: Any) -> str | None:
    """Return how a value differs from its declared type, or None. Undeclared methods are not checked.

    Args:
        method: The method of the call.
        event: The name of the event with the value; None if the value is the result.
        value: The value as sent.
    """
    spec = (METHODS | GATEWAY).get(method)
    if spec is None:
        return None
    if event is not None and event not in spec.events:
        return f"{method}: no event {event} is declared"
    shape = spec.result if event is None else spec.events[event]
    where = f"{method} {event or 'result'}"
    try:
        typed = msgspec.convert(value, shape)
    except msgspec.ValidationError as error:
        return f"{where}: {error}"
    return _difference(where, value, msgspec.to_builtins(typed))


def _difference(where: str, sent: Any, declared: Any) -> str | None:
    """Compare the sent value with the decoded value, where omitted fields have their defaults."""
    match sent, declared:
        case dict(), dict():
            if extra := set(sent) - set(declared):
                return f"{where}: not declared: {sorted(extra)}"
            pairs = [(f"{where}.{name}", sent[name], declared[name]) for name in sent]
        case list(), list() | tuple():
            pairs = [(f"{where}[{n}]", one, other) for n, (one, other) in enumerate(zip(sent, declared, strict=True))]
        case _:
            return None if sent == declared else f"{where}: {sent!r} became {declared!r}"
    return next((found for pair in pairs if (found := _difference(*pair))), None)
