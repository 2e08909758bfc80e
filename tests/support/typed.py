"""Whether what a server really says is what `hawse.api` declares: nothing mistyped, nothing missing, nothing more."""

from typing import Any

import msgspec

from hawse.api import GATEWAY, METHODS


def mistake(method: str, event: str | None, value: Any) -> str | None:
    """What is wrong with the value of an event, or of the result if that is None. A method that is not known may be."""
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


def _difference(where: str, said: Any, declared: Any) -> str | None:
    """What was said has to be all there; what may be left out is there as its default."""
    match said, declared:
        case dict(), dict():
            if extra := set(said) - set(declared):
                return f"{where}: not declared: {sorted(extra)}"
            pairs = [(f"{where}.{name}", said[name], declared[name]) for name in said]
        case list(), list() | tuple():
            pairs = [(f"{where}[{n}]", one, other) for n, (one, other) in enumerate(zip(said, declared, strict=True))]
        case _:
            return None if said == declared else f"{where}: {said!r} became {declared!r}"
    return next((found for pair in pairs if (found := _difference(*pair))), None)
