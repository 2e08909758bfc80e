"""Converts exceptions from handlers to typed errors that can be sent to a client."""

import errno
import logging

from hawse.wire import HawseError

log = logging.getLogger(__name__)

_CODES: dict[type[OSError], str] = {
    FileNotFoundError: "not_found",
    PermissionError: "permission_denied",
    IsADirectoryError: "is_directory",
    NotADirectoryError: "not_directory",
    FileExistsError: "conflict",
}
_CODES_BY_ERRNO = {
    errno.ENOSPC: "no_space",
    errno.EDQUOT: "no_space",
    errno.EFBIG: "too_large",
    errno.EROFS: "permission_denied",
    errno.ENOTEMPTY: "conflict",
    errno.EMFILE: "limit_exceeded",  # this process has run out of descriptors
    # The machine has run out of descriptors.
    errno.ENFILE: "limit_exceeded",
    errno.ENOMEM: "limit_exceeded",
    errno.EAGAIN: "limit_exceeded",  # no more processes or threads can be created
    errno.ENAMETOOLONG: "invalid_params",  # the caller's path is not a valid file name
    errno.ELOOP: "invalid_params",  # the caller's path has too many symbolic links
}


def typed(error: Exception, subject: str | None = None) -> HawseError:
    """Convert any exception to an error that can be sent.

    Exceptions other than `HawseError` and `OSError` are bugs. They are logged, and the client gets `internal` without
    their text.

    Args:
        error: The exception.
        subject: The object that the call refers to, such as the caller's path. The message for an `OSError` names it.
    """
    if isinstance(error, HawseError):
        return error
    if isinstance(error, OSError):
        return from_oserror(error, subject)
    if isinstance(error, MemoryError):
        return HawseError("limit_exceeded", "the server is out of memory", admitted="unknown")
    log.error("! a handler failed", exc_info=error)
    return HawseError("internal", "a bug in the server", admitted="unknown")


def from_oserror(error: OSError, subject: str | None = None) -> HawseError:
    """Convert an `OSError` to an error with the matching code and with its `errno` in `details`. `subject` is the same
    as in `typed`.
    """
    code = next((code for kind, code in _CODES.items() if isinstance(error, kind)), "io_error")
    code = _CODES_BY_ERRNO.get(error.errno or 0, code)
    message = error.strerror or str(error)
    if subject is not None:
        message = f"{subject}: {message}"
    return HawseError(code, message, admitted="yes", details={"errno": error.errno})


def subject_of(params: object) -> str | None:
    """Return the path in the parameters, as written by the caller; for a copy, both paths. None if there is no path."""
    path, to = getattr(params, "path", None), getattr(params, "to", None)
    if not isinstance(path, str):
        return None
    return f"{path} to {to}" if isinstance(to, str) else path
