"""Maps a recorder's exceptions to the reason why the recording ended."""

import errno
import logging

from hawse.api.recordings import RecordingEndReason
from hawse_runtime.recording.cast_writer import QuotaError

log = logging.getLogger(__name__)


def describe_failure(error: Exception) -> tuple[RecordingEndReason, str]:
    """Return the reason and a message for users. Unexpected exceptions are logged."""
    if isinstance(error, QuotaError):
        return "quota", "the size limit for recordings was reached"
    if not isinstance(error, OSError):
        log.error("! a recorder failed", exc_info=error)
        return "io_error", "the server is out of memory" if isinstance(error, MemoryError) else "a bug"
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return "no_space" if full else "io_error", error.strerror or str(error)
