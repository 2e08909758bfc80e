"""The exceptions by cause, one for each code of the table of errors that a call can end with.

Generated from hawse/wire/errors.py and docs/wire.md by `make generate`; do not edit.
"""

import errno
from typing import Any, Final

from hawse.wire import Admitted, HawseError


class UnauthenticatedError(HawseError):
    """Code `unauthenticated`: the token or ticket is missing or wrong."""

    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, "unauthenticated", message, admitted=admitted, details=details)


class ForbiddenError(HawseError):
    """Code `forbidden`: authenticated, but not allowed."""

    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, "forbidden", message, admitted=admitted, details=details)


class OriginDeniedError(HawseError):
    """Code `origin_denied`: a page of a foreign origin."""

    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, "origin_denied", message, admitted=admitted, details=details)


class UnknownMethodError(HawseError):
    """Code `unknown_method`: the method does not exist."""

    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, "unknown_method", message, admitted=admitted, details=details)


class InvalidParamsError(HawseError):
    """Code `invalid_params`: a parameter is unknown or wrong; `details.path` is its location."""

    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, "invalid_params", message, admitted=admitted, details=details)


class NotFoundError(HawseError, FileNotFoundError):
    """Code `not_found`: the sandbox, terminal, process or file does not exist."""

    errno = errno.ENOENT

    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, "not_found", message, admitted=admitted, details=details)


class ConflictError(HawseError):
    """Code `conflict`: the id is taken; the file has changed."""

    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, "conflict", message, admitted=admitted, details=details)


class StaleHandleError(HawseError):
    """Code `stale_handle`: the handle belongs to an earlier runtime, terminal or process with that id."""

    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, "stale_handle", message, admitted=admitted, details=details)


class ExitedError(HawseError):
    """Code `exited`: input or a signal for a terminal, process or session that has ended."""

    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, "exited", message, admitted=admitted, details=details)


class LeaseHeldError(HawseError):
    """Code `lease_held`: input while another viewer holds the writer lease; `details.applied`, and the lease."""

    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, "lease_held", message, admitted=admitted, details=details)


class KeyConflictError(HawseError):
    """Code `key_conflict`: the key belongs to another call."""

    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, "key_conflict", message, admitted=admitted, details=details)


class OutcomeUnknownError(HawseError):
    """Code `outcome_unknown`: the key was used and its outcome is no longer kept, or another server may have run the
    call.
    """

    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, "outcome_unknown", message, admitted=admitted, details=details)


class InputGapError(HawseError):
    """Code `input_gap`: input beyond the applied offset; `details.applied`."""

    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, "input_gap", message, admitted=admitted, details=details)


class InputOverflowError(HawseError):
    """Code `input_overflow`: the program does not read its input; `details.applied`."""

    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, "input_overflow", message, admitted=admitted, details=details)


class LimitExceededError(HawseError):
    """Code `limit_exceeded`: too many channels, terminals, processes."""

    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, "limit_exceeded", message, admitted=admitted, details=details)


class TooLargeError(HawseError):
    """Code `too_large`: an argument or result beyond its limit."""

    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, "too_large", message, admitted=admitted, details=details)


class DeadlineExceededError(HawseError, TimeoutError):
    """Code `deadline_exceeded`: the call's `timeout`."""

    errno = errno.ETIMEDOUT

    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, "deadline_exceeded", message, admitted=admitted, details=details)


class CallCancelledError(HawseError):
    """Code `cancelled`: the answer to `cancel`."""

    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, "cancelled", message, admitted=admitted, details=details)


class SpawnFailedError(HawseError):
    """Code `spawn_failed`: the program does not exist or is not executable, or the directory does not exist."""

    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, "spawn_failed", message, admitted=admitted, details=details)


class LanguageUnavailableError(HawseError):
    """Code `language_unavailable`: no Jupyter kernel for the language is installed; the message states how to
    install one.
    """

    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, "language_unavailable", message, admitted=admitted, details=details)


class PermissionDeniedError(HawseError, PermissionError):
    """Code `permission_denied`: the operating system refuses."""

    errno = errno.EACCES

    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, "permission_denied", message, admitted=admitted, details=details)


class IsDirectoryError(HawseError, IsADirectoryError):
    """Code `is_directory`: the path is a directory."""

    errno = errno.EISDIR

    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, "is_directory", message, admitted=admitted, details=details)


class NotDirectoryError(HawseError, NotADirectoryError):
    """Code `not_directory`: a part of the path is not a directory."""

    errno = errno.ENOTDIR

    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, "not_directory", message, admitted=admitted, details=details)


class NoSpaceError(HawseError, OSError):
    """Code `no_space`: the disk is full."""

    errno = errno.ENOSPC

    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, "no_space", message, admitted=admitted, details=details)


class IoError(HawseError, OSError):
    """Code `io_error`: another error of the operating system; `details.errno`."""

    errno = errno.EIO

    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, "io_error", message, admitted=admitted, details=details)


class UnavailableError(HawseError):
    """Code `unavailable`: the sandbox cannot be reached; `admitted` is `"no"`. Not `retryable`: a program or a
    setting that the call needs is missing.
    """

    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, "unavailable", message, admitted=admitted, details=details)


class CapacityExceededError(HawseError):
    """Code `capacity_exceeded`: the machine has no room for another sandbox; `details.retry_after` in seconds."""

    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, "capacity_exceeded", message, admitted=admitted, details=details)


class CleanupPendingError(HawseError):
    """Code `cleanup_pending`: something of the sandbox has not ended yet, and is being ended; `details.retry_after`
    in seconds.
    """

    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, "cleanup_pending", message, admitted=admitted, details=details)


class StoppedError(HawseError):
    """Code `stopped`: the sandbox was stopped or paused by a client: start it with `sandbox.start`. `details`:
    `reason`, such as `stopped by Grace`.
    """

    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, "stopped", message, admitted=admitted, details=details)


class ConnectionLostError(HawseError):
    """Code `interrupted`: the connection to the sandbox was lost after the call was sent; `admitted` is `"unknown"`."""

    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, "interrupted", message, admitted=admitted, details=details)


class InternalError(HawseError):
    """Code `internal`: a bug on the server; no details leave it."""

    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, "internal", message, admitted=admitted, details=details)


CAUSES: Final[dict[str, type[HawseError]]] = {
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
