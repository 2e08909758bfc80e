"""hawse: terminals, commands and files of a sandbox over one WebSocket.

The names below come from `hawse.client` and are loaded when they are first used, so that a runtime, which needs only
`hawse.wire` and `hawse.api`, never loads the client.
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
    from hawse.client.base.causes import (
        CallCancelledError,
        CapacityExceededError,
        CleanupPendingError,
        ConflictError,
        ConnectionLostError,
        DeadlineExceededError,
        ExitedError,
        ForbiddenError,
        InputGapError,
        InputOverflowError,
        InternalError,
        InvalidParamsError,
        IoError,
        IsDirectoryError,
        KeyConflictError,
        LanguageUnavailableError,
        LeaseHeldError,
        LimitExceededError,
        NoSpaceError,
        NotDirectoryError,
        NotFoundError,
        OriginDeniedError,
        OutcomeUnknownError,
        PermissionDeniedError,
        SpawnFailedError,
        StaleHandleError,
        StoppedError,
        TooLargeError,
        UnauthenticatedError,
        UnavailableError,
        UnknownMethodError,
    )

__version__ = "0.1.0"

__all__ = [
    "CallCancelledError",
    "CapacityExceededError",
    "CleanupPendingError",
    "Client",
    "CommandError",
    "CommandResult",
    "ConflictError",
    "ConnectionLostError",
    "ConnectionState",
    "DeadlineExceededError",
    "Exit",
    "ExitedError",
    "ForbiddenError",
    "HawseError",
    "InputGapError",
    "InputOverflowError",
    "InternalError",
    "InvalidParamsError",
    "IoError",
    "IsDirectoryError",
    "KeyConflictError",
    "LanguageUnavailableError",
    "LeaseHeldError",
    "LimitExceededError",
    "NoSpaceError",
    "NotDirectoryError",
    "NotFoundError",
    "Options",
    "OriginDeniedError",
    "OutcomeUnknownError",
    "PermissionDeniedError",
    "Process",
    "Sandbox",
    "SpawnFailedError",
    "StaleHandleError",
    "StoppedError",
    "Terminal",
    "TooLargeError",
    "UnauthenticatedError",
    "UnavailableError",
    "UnknownMethodError",
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
