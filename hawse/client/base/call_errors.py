"""One exception class for each error code that a call can end with.

Generated from hawse/wire/errors.py by `make generate`; do not edit.
"""

import errno
from typing import Any, Final

from hawse.wire import Admitted, HawseError


class CallError(HawseError):
    """The base of the classes below. Each class defines its `code` as a class attribute."""

    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, self.code, message, admitted=admitted, details=details)


class UnauthenticatedError(CallError):
    """Code `unauthenticated`: the token or ticket is missing or wrong."""

    code = "unauthenticated"


class ForbiddenError(CallError):
    """Code `forbidden`: authenticated, but not allowed."""

    code = "forbidden"


class OriginDeniedError(CallError):
    """Code `origin_denied`: the page's origin is not allowed."""

    code = "origin_denied"


class UnknownMethodError(CallError):
    """Code `unknown_method`: the method does not exist."""

    code = "unknown_method"


class InvalidParamsError(CallError):
    """Code `invalid_params`: a parameter is unknown or invalid; `details.path` is its location."""

    code = "invalid_params"


class NotFoundError(CallError, FileNotFoundError):
    """Code `not_found`: the sandbox, terminal, process or file does not exist."""

    code = "not_found"
    errno = errno.ENOENT


class ConflictError(CallError):
    """Code `conflict`: the request conflicts with the current state: for example, the id is taken, or the file has
    changed.
    """

    code = "conflict"


class StaleHandleError(CallError):
    """Code `stale_handle`: the handle refers to an earlier runtime, terminal or process with the same id."""

    code = "stale_handle"


class ExitedError(CallError):
    """Code `exited`: the terminal, process or session has ended and accepts no input or signals."""

    code = "exited"


class LeaseHeldError(CallError):
    """Code `lease_held`: another viewer holds the writer lease; `details` has the lease and the `applied` input
    offset.
    """

    code = "lease_held"


class KeyConflictError(CallError):
    """Code `key_conflict`: the key belongs to another call."""

    code = "key_conflict"


class OutcomeUnknownError(CallError):
    """Code `outcome_unknown`: the key was used but its outcome is no longer stored, or another server may have run
    the call.
    """

    code = "outcome_unknown"


class InputGapError(CallError):
    """Code `input_gap`: input was sent beyond the applied offset, which is `details.applied`."""

    code = "input_gap"


class InputOverflowError(CallError):
    """Code `input_overflow`: the program is not reading its input; `details.applied` is the applied offset."""

    code = "input_overflow"


class LimitExceededError(CallError):
    """Code `limit_exceeded`: too many channels, terminals, processes or other objects."""

    code = "limit_exceeded"


class TooLargeError(CallError):
    """Code `too_large`: an argument or result exceeds its limit."""

    code = "too_large"


class DeadlineExceededError(CallError, TimeoutError):
    """Code `deadline_exceeded`: the call's `timeout` has passed."""

    code = "deadline_exceeded"
    errno = errno.ETIMEDOUT


class CallCancelledError(CallError):
    """Code `cancelled`: the call was cancelled."""

    code = "cancelled"


class SpawnFailedError(CallError):
    """Code `spawn_failed`: the program does not exist or is not executable, or the directory does not exist."""

    code = "spawn_failed"


class LanguageUnavailableError(CallError):
    """Code `language_unavailable`: no Jupyter kernel for the language is installed; the message states how to
    install one.
    """

    code = "language_unavailable"


class PermissionDeniedError(CallError, PermissionError):
    """Code `permission_denied`: the operating system denied access."""

    code = "permission_denied"
    errno = errno.EACCES


class IsDirectoryError(CallError, IsADirectoryError):
    """Code `is_directory`: the path is a directory."""

    code = "is_directory"
    errno = errno.EISDIR


class NotDirectoryError(CallError, NotADirectoryError):
    """Code `not_directory`: a part of the path is not a directory."""

    code = "not_directory"
    errno = errno.ENOTDIR


class NoSpaceError(CallError, OSError):
    """Code `no_space`: the disk is full."""

    code = "no_space"
    errno = errno.ENOSPC


class IoError(CallError, OSError):
    """Code `io_error`: another operating system error, with its number in `details.errno`."""

    code = "io_error"
    errno = errno.EIO


class UnavailableError(CallError):
    """Code `unavailable`: the sandbox cannot be reached (`admitted` is `"no"`), or a required program or setting is
    missing (not `retryable`).
    """

    code = "unavailable"


class CapacityExceededError(CallError):
    """Code `capacity_exceeded`: the machine has no capacity for another sandbox; retry after `details.retry_after`
    seconds.
    """

    code = "capacity_exceeded"


class CleanupPendingError(CallError):
    """Code `cleanup_pending`: parts of the sandbox are still shutting down; retry after `details.retry_after`
    seconds.
    """

    code = "cleanup_pending"


class StoppedError(CallError):
    """Code `stopped`: a client has stopped or paused the sandbox, and `sandbox.start` starts it; `details.reason`
    is, for example, `stopped by Grace`.
    """

    code = "stopped"


class ConnectionLostError(CallError):
    """Code `interrupted`: the connection to the sandbox was lost after the call was sent; `admitted` is `"unknown"`."""

    code = "interrupted"


class InternalError(CallError):
    """Code `internal`: a bug in the server; its details are not sent."""

    code = "internal"


CALL_ERRORS: Final[dict[str, type[HawseError]]] = {
    "unauthenticated": UnauthenticatedError,
    "forbidden": ForbiddenError,
    "origin_denied": OriginDeniedError,
    "unknown_method": UnknownMethodError,
    "invalid_params": InvalidParamsError,
    "not_found": NotFoundError,
    "conflict": ConflictError,
    "stale_handle": StaleHandleError,
    "exited": ExitedError,
    "lease_held": LeaseHeldError,
    "key_conflict": KeyConflictError,
    "outcome_unknown": OutcomeUnknownError,
    "input_gap": InputGapError,
    "input_overflow": InputOverflowError,
    "limit_exceeded": LimitExceededError,
    "too_large": TooLargeError,
    "deadline_exceeded": DeadlineExceededError,
    "cancelled": CallCancelledError,
    "spawn_failed": SpawnFailedError,
    "language_unavailable": LanguageUnavailableError,
    "permission_denied": PermissionDeniedError,
    "is_directory": IsDirectoryError,
    "not_directory": NotDirectoryError,
    "no_space": NoSpaceError,
    "io_error": IoError,
    "unavailable": UnavailableError,
    "capacity_exceeded": CapacityExceededError,
    "cleanup_pending": CleanupPendingError,
    "stopped": StoppedError,
    "interrupted": ConnectionLostError,
    "internal": InternalError,
}
