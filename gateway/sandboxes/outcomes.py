"""The errors of operations on sandboxes, read from the rows that the driver has left."""

from gateway.sandboxes.driver import RETRY_MAX
from gateway.sandboxes.records import Rows, SandboxRecord
from gateway.store.clock import Clock
from hawse.wire import HawseError

SHORTEST_WAIT = 0.1  # s, the least `retry_after` of an error: clients that repeat at once would only be refused again


def cleanup_pending(rows: Rows, clock: Clock) -> HawseError:
    """Return the error for a sandbox of which something has not ended.

    Its `retry_after` has the seconds until the driver tries again, at least `SHORTEST_WAIT`; 1 s if that is not known.
    """
    retry_at, reason = None, None
    if rows.run is not None:
        retry_at, reason = rows.run.value.retry_at, rows.run.value.reason
    elif rows.sandbox is not None:
        retry_at, reason = rows.sandbox.value.retry_at, rows.sandbox.value.reason
    delay = 1.0 if retry_at is None else min(max(clock.until(retry_at), SHORTEST_WAIT), RETRY_MAX)
    text = f"sandbox {rows.id!r} has not ended yet{f': {reason}' if reason else ''}"
    return HawseError("cleanup_pending", text, details={"retry_after": round(delay, 1)})


def not_started(rows: Rows, clock: Clock) -> HawseError:
    """Return the error for a sandbox that was to be started and does not run."""
    if rows.sandbox is not None and rows.sandbox.value.wanted == "sleeping" and rows.sandbox.value.failure is not None:
        return rows.sandbox.value.failure.to_exception()  # also while what was started has not ended yet
    if rows.run is not None:
        return cleanup_pending(rows, clock)
    if rows.sandbox is None or rows.sandbox.value.wanted == "deleted":
        return HawseError("not_found", f"sandbox {rows.id!r} was deleted while it was started")
    if rows.sandbox.value.failure is not None:
        return rows.sandbox.value.failure.to_exception()
    return HawseError("stopped", f"sandbox {rows.id!r} was stopped while it was started")


def not_repeated(rows: Rows, record: SandboxRecord, clock: Clock) -> HawseError | None:
    """Return the error of a creation whose id is in use. None: it repeats the one that has made the sandbox.

    Args:
        rows: What is stored of the sandbox that has the id.
        record: What the creation would have written.
        clock: Tells when its deletion is tried again.
    """
    assert rows.sandbox is not None
    found = rows.sandbox.value
    same = found.fingerprint == record.fingerprint
    if found.wanted == "deleted":
        # A client may repeat a creation that has failed before what was started of it has ended.
        return found.failure.to_exception() if same and found.failure is not None else cleanup_pending(rows, clock)
    text = f"sandbox {found.id!r} exists, and was created with other parameters"
    return None if same else HawseError("conflict", text)
