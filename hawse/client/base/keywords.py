"""Keyword arguments that a `TypedDict` declares: checked, because a name that is not declared would have no effect."""

from collections.abc import Mapping
from typing import TypeVar

T = TypeVar("T", bound=Mapping[str, object])


def declared(given: T, options: type, function: str) -> T:
    """Return the keyword arguments that are not None.

    Args:
        given: The keyword arguments.
        options: The `TypedDict` that declares them.
        function: The name of the function, for the message.

    Raises:
        TypeError: One is not declared.
    """
    for name in given:
        if name not in options.__annotations__:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")
    return type(given)({name: value for name, value in given.items() if value is not None})  # type: ignore[call-arg]
