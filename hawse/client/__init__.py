"""The Python client: `async with connect(url, token=…) as hw: await hw.sandbox().exec("uname -a")`.

Exports the same names as `hawse`. Each name is loaded on first use.
"""

from typing import Any

import hawse

__all__ = [name for name in hawse.__all__ if name != "__version__"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'hawse.client' has no attribute {name!r}")
    value = globals()[name] = hawse.load(name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
