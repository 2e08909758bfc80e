import errno

from hawse_runtime.recording.cast_writer import QuotaError
from hawse_runtime.recording.failure import describe_failure


def test_each_failure_has_a_reason() -> None:
    assert describe_failure(QuotaError())[0] == "quota"
    assert describe_failure(OSError(errno.ENOSPC, "full")) == ("no_space", "full")
    assert describe_failure(OSError(errno.EIO, "broken")) == ("io_error", "broken")
    assert describe_failure(MemoryError()) == ("io_error", "the server is out of memory")
    assert describe_failure(RuntimeError()) == ("io_error", "a bug")
