"""Reports when the extra that an adapter needs is missing."""

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["extra"]


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Context manager for importing an extra's packages. If a package is missing, the error explains how to install it.

    Packages and modules can have different names: the module `agents` belongs to the package openai-agents.

    Args:
        name: The name of the extra.

    Raises:
        ModuleNotFoundError: A package is missing.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        message = f"{error}; it is part of the extra {name}: pip install 'hawse[{name}]'"
        raise ModuleNotFoundError(message, name=error.name, path=error.path) from error
