"""The client's own errors. All derive from `HawseError`, so one `except` clause catches everything.

    HawseError                    any error, with `code`, `retryable`, `admitted`, `details`
    ├── NotFoundError, …          a call failed: one class for each code (hawse/client/base/call_errors.py)
    │   ├── GaveUpError           (unavailable) no connection within the time allowed
    │   ├── BusyError             (conflict) another task is reading the same stream
    │   └── TruncatedError        (too_large) the requested bytes are no longer kept
    ├── RemoteProtocolError       the server violated the protocol (hawse.wire): the client is closed permanently
    ├── ClientClosedError         the client, or the handle, was closed on this side
    ├── RefusedError              the server refused the connection (token, rights, protocol): retrying is useless;
    │                             also an `UnauthenticatedError` or a `ForbiddenError`, depending on its code
    └── CommandError              a command run with `check=True` failed
        └── CommandTimeoutError   it ran longer than its `timeout`: also a `TimeoutError`

If the connection is lost during a call that cannot be repeated, the error is a `ConnectionLostError`. For codes that
only newer servers define, the error is a plain `HawseError`.
"""

from typing import TYPE_CHECKING, Any

from hawse.client.base.call_errors import (
    CALL_ERRORS,
    ConflictError,
    ForbiddenError,
    TooLargeError,
    UnauthenticatedError,
    UnavailableError,
)
from hawse.wire import Admitted, HawseError
from hawse.wire.errors import rebuilt

if TYPE_CHECKING:
    from hawse.client.base.results import CommandResult


class ClientClosedError(HawseError):
    """The client or the handle was closed on this side. Code `cancelled`."""

    def __init__(self, message: str = "the client was closed", *, admitted: Admitted = "no") -> None:
        super().__init__("cancelled", message, admitted=admitted)


class RefusedError(HawseError):
    """The server refused the connection permanently. The code comes from the server (`unauthenticated`, `forbidden`,
    …).

    With one of these two codes, the error is also an `UnauthenticatedError` or a `ForbiddenError`.
    """

    def __init__(self, code: str, message: str = "", *, details: Any = None) -> None:
        HawseError.__init__(self, code, message, details=details)


class RefusedTokenError(RefusedError, UnauthenticatedError):
    """The server refused the connection because the client's token is missing or wrong."""


class RefusedRightError(RefusedError, ForbiddenError):
    """The server refused the connection because the client's token does not grant the required right."""


def refused(code: str, message: str, *, details: Any = None) -> RefusedError:
    """Return the error for a refused connection. For some codes, the error is also an instance of the code's class."""
    kind = {"unauthenticated": RefusedTokenError, "forbidden": RefusedRightError}.get(code, RefusedError)
    return kind(code, message, details=details)


class GaveUpError(UnavailableError):
    """No connection was established within the time allowed. Code `unavailable`."""


class BusyError(ConflictError):
    """Two tasks are reading the same stream. Code `conflict`."""

    def __init__(self, message: str = "another task is reading this stream") -> None:
        super().__init__(message)


class TruncatedError(TooLargeError):
    """`missing` bytes of `stream` are no longer kept. Code `too_large`. The next read continues after the gap."""

    def __init__(self, stream: str, missing: int) -> None:
        super().__init__(f"{missing} bytes of {stream} are no longer kept", admitted="yes")
        self.stream = stream
        self.missing = missing


class CommandError(HawseError):
    """The command ran and failed. Code `command_failed`; `result` holds its exit status and output."""

    @staticmethod
    def of(result: "CommandResult") -> "CommandError":
        """Return the error for a failed command: a `CommandTimeoutError` if the command exceeded its timeout."""
        return (CommandTimeoutError if result.timed_out else CommandError)(result)

    def __init__(self, result: "CommandResult") -> None:
        how = "timed out" if result.timed_out else f"was ended by {result.signal}" if result.signal else ""
        tail = result.stderr[-500:].decode(errors="replace").strip()
        how = how or ("printed more output than was kept" if result.ok else f"exited with {result.code}")
        message = f"the command {how}" + (f": {tail}" if tail else "")
        HawseError.__init__(self, "command_failed", message, admitted="yes")
        self.result = result


class CommandTimeoutError(CommandError, TimeoutError):
    """The command ran longer than its `timeout` and was killed. Code `command_failed`."""


def fresh(error: HawseError) -> HawseError:
    """Return a copy of `error` to raise, as an instance of the class for its code.

    A single exception raised in several tasks would collect the tracebacks of all of them.
    """
    cls = CALL_ERRORS.get(error.code, HawseError) if type(error) is HawseError else type(error)
    return rebuilt(cls, error.args, error.__dict__)
