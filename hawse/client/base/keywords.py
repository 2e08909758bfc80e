"""Checks keyword arguments against a `TypedDict`, because a misspelled name would silently have no effect."""

import inspect
from collections.abc import Collection, Mapping
from typing import TypeVar

T = TypeVar("T", bound=Mapping[str, object])


def declared(given: T, options: type, function: str) -> T:
    """Return the keyword arguments that are not None.

    Args:
        given: The keyword arguments.
        options: The `TypedDict` that declares them.
        function: The name of the function, for the message.

    Raises:
        TypeError: An argument is not declared.
    """
    for name in given:
        if name not in options.__annotations__:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")
    return type(given)({name: value for name, value in given.items() if value is not None})  # type: ignore[call-arg]


def declared_callbacks(given: T, options: type, function: str, *, awaited: Collection[str] = ()) -> T:
    """Return the callbacks that are not None, after checking them more strictly than `declared` does.

    Args:
        given: The keyword arguments, all of them callbacks.
        options: The `TypedDict` that declares them.
        function: The name of the function, for the message.
        awaited: Names of callbacks whose results are awaited.

    Raises:
        TypeError: A callback is not declared, is not callable, or is an async function that would never be awaited.
    """
    found = declared(given, options, function)
    for name, callback in found.items():
        if not callable(callback):
            raise TypeError(f"{name} must be a function, not the {type(callback).__name__} {callback!r}")
        is_async = inspect.iscoroutinefunction(callback) or inspect.iscoroutinefunction(type(callback).__call__)
        if name not in awaited and is_async:
            raise TypeError(f"{name} must be a plain function: its result is not awaited, and this one is async")
    return found
