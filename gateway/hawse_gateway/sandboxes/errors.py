"""Derives errors for operations on sandboxes from the rows that the driver has written."""

from hawse.wire import HawseError
from hawse_gateway.sandboxes.driver import RETRY_MAX
from hawse_gateway.sandboxes.records import Rows, SandboxRecord
from hawse_gateway.store.clock import Clock

SHORTEST_WAIT = 0.1  # minimum `retry_after` in seconds, because an immediate retry would fail again


def cleanup_pending(rows: Rows, clock: Clock) -> HawseError:
    """Return the error for a sandbox that has not fully ended.

    `retry_after` is the number of seconds until the driver retries: at least `SHORTEST_WAIT`, or 1 if unknown.
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
    """Return the error for a sandbox that is not running after a start.

    Args:
        rows: The sandbox's rows.
        sandbox: The sandbox's id.
        clock: The clock used to calculate when the driver retries.
        lost: Whether the store was emptied while the sandbox was starting.
    """
    if rows.sandbox is not None and rows.sandbox.value.wanted == "sleeping" and rows.sandbox.value.failure is not None:
        return rows.sandbox.value.failure.to_exception()  # the failed run may not have ended yet
    if rows.run is not None:
        return cleanup_pending(rows, clock)
    if rows.sandbox is None and lost:
        return HawseError("unavailable", f"the store has lost sandbox {sandbox!r} while it was starting")
    if rows.sandbox is None:  # an emptied store looks the same as a deletion
        text = f"sandbox {sandbox!r} does not exist any more: it was deleted, or the store has lost it"
        return HawseError("not_found", text)
    if rows.sandbox.value.wanted == "deleted":
        return HawseError("not_found", f"sandbox {sandbox!r} was deleted while it was starting")
    if rows.sandbox.value.failure is not None:
        return rows.sandbox.value.failure.to_exception()
    return HawseError("stopped", f"sandbox {sandbox!r} was stopped while it was starting")


def not_wanted(record: SandboxRecord) -> HawseError:
    """Return the error for a call to a stopped or paused sandbox. Its details contain the reason for the stop or
    pause."""
    how = record.reason or f"{record.wanted} by a client"
    text = f"sandbox {record.id!r} was {how}: start it with sandbox.start"
    return HawseError("stopped", text, details={"reason": how})


def repeated(rows: Rows, record: SandboxRecord, clock: Clock) -> str:
    """Return the generation of a sandbox that was created by an earlier call with the same parameters.

    Args:
        rows: The rows of the existing sandbox.
        record: The row that this creation would have written.
        clock: The clock used to calculate when the driver retries.

    Raises:
        HawseError: `conflict` if the sandbox was created with different or unknown parameters, `cleanup_pending` if it
            is being deleted, or the error that made the creation fail.
    """
    assert rows.sandbox is not None
    found = rows.sandbox.value
    same = found.fingerprint == record.fingerprint
    if found.wanted == "deleted":
        # A client is allowed to retry a failed creation even before the failed run has ended.
        raise found.failure.to_exception() if same and found.failure is not None else cleanup_pending(rows, clock)
    if not found.fingerprint:
        text = f"sandbox {found.id!r} exists, and the store has lost the parameters that it was created with"
        raise HawseError("conflict", text, admitted="unknown")
    if not same:
        raise HawseError("conflict", f"sandbox {found.id!r} exists, and was created with other parameters")
    return found.generation
