"""The errors of operations on sandboxes, read from the rows that the driver has left."""

from hawse.wire import HawseError
from hawse_gateway.sandboxes.driver import RETRY_MAX
from hawse_gateway.sandboxes.records import Rows, SandboxRecord
from hawse_gateway.store.clock import Clock

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


def not_started(rows: Rows, sandbox: str, clock: Clock, *, lost: bool = False) -> HawseError:
    """Return the error for a sandbox that was to be started and does not run.

    Args:
        rows: What is stored of it.
        sandbox: Its id.
        clock: Measures the time until its end is tried again.
        lost: Whether the store was emptied meanwhile.
    """
    if rows.sandbox is not None and rows.sandbox.value.wanted == "sleeping" and rows.sandbox.value.failure is not None:
        return rows.sandbox.value.failure.to_exception()  # also while what was started has not ended yet
    if rows.run is not None:
        return cleanup_pending(rows, clock)
    if rows.sandbox is None and lost:
        return HawseError("unavailable", f"the store has lost sandbox {sandbox!r} while it was started")
    if rows.sandbox is None:  # a store that was emptied has no trace of it, as after a deletion
        text = f"sandbox {sandbox!r} does not exist any more: it was deleted, or the store has lost it"
        return HawseError("not_found", text)
    if rows.sandbox.value.wanted == "deleted":
        return HawseError("not_found", f"sandbox {sandbox!r} was deleted while it was started")
    if rows.sandbox.value.failure is not None:
        return rows.sandbox.value.failure.to_exception()
    return HawseError("stopped", f"sandbox {sandbox!r} was stopped while it was started")


def not_wanted(record: SandboxRecord) -> HawseError:
    """Return the error of a call to a sandbox that a client has stopped or paused, with the reason in its details."""
    how = record.reason or f"{record.wanted} by a client"
    text = f"sandbox {record.id!r} was {how}: start it with sandbox.start"
    return HawseError("stopped", text, details={"reason": how})


def repeated(rows: Rows, record: SandboxRecord, clock: Clock) -> str:
    """Return the generation of the sandbox that a repeated creation has found.

    Args:
        rows: What is stored of the sandbox that has the id.
        record: What the creation would have written.
        clock: Measures the time until its deletion is tried again.

    Raises:
        HawseError: `conflict` if it was created with other or unknown parameters, `cleanup_pending` if it is being
            deleted, or why the creation has failed.
    """
    assert rows.sandbox is not None
    found = rows.sandbox.value
    same = found.fingerprint == record.fingerprint
    if found.wanted == "deleted":
        # A client may repeat a creation that has failed before what was started of it has ended.
        raise found.failure.to_exception() if same and found.failure is not None else cleanup_pending(rows, clock)
    if not found.fingerprint:
        text = f"sandbox {found.id!r} exists, and the store has lost the parameters that it was created with"
        raise HawseError("conflict", text, admitted="unknown")
    if not same:
        raise HawseError("conflict", f"sandbox {found.id!r} exists, and was created with other parameters")
    return found.generation
