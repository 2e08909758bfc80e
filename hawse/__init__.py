"""hawse: one WebSocket for everything that is done with a sandbox.

The names below come from `hawse.client` and are loaded when they are first used: a runtime, which needs
`hawse.wire` alone, never loads a client.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hawse.client import (
        Client,
        CommandError,
        CommandResult,
        ConnectionState,
        Exit,
        HawseError,
        Options,
        Process,
        Sandbox,
        Terminal,
        connect,
    )

__version__ = "0.1.0"

__all__ = [
    "Client",
    "CommandError",
    "CommandResult",
    "ConnectionState",
    "Exit",
    "HawseError",
    "Options",
    "Process",
    "Sandbox",
    "Terminal",
    "__version__",
    "connect",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'hawse' has no attribute {name!r}")
    from hawse import client

    value = getattr(client, name)
    globals()[name] = value
    return value
