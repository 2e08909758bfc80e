"""Maps write errors of a recording to the reason for its end."""

import errno
import logging

from hawse.api.recordings import RecordingEndReason
from hawse_runtime.recording.cast_writer import QuotaError

log = logging.getLogger(__name__)


def describe_failure(error: Exception) -> tuple[RecordingEndReason, str]:
    """Return the reason, and a message for people. Logs unexpected errors."""
    if isinstance(error, QuotaError):
        return "quota", "the size limit of recordings is reached"
    if not isinstance(error, OSError):
        log.error("! a recorder failed", exc_info=error)
        return "io_error", "the server has no memory left" if isinstance(error, MemoryError) else "a bug"
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return "no_space" if full else "io_error", error.strerror or str(error)
