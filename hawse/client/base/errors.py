"""The client's own errors. Each says one thing, and all are `HawseError`, so that one `except` catches everything.

    HawseError                    an error of the protocol, with `code`, `retryable`, `admitted`, `details`
    ├── RemoteProtocolError       the server broke the protocol (hawse.wire): the client is closed for good
    ├── ClientClosedError         we closed: the client's or the handle's `async with` was left
    ├── RefusedError              the server will not have us (token, rights, protocol): no retry can help
    ├── GaveUpError               no connection within the time that was allowed
    ├── BusyError                 somebody else is reading this very stream
    ├── TruncatedError            bytes that were asked for are kept nowhere any more
    └── CommandError              a command failed, and `check=True` asked for an exception

A line that was cut under a call that cannot be repeated is a plain `HawseError("interrupted")`.
"""

from typing import TYPE_CHECKING

from hawse.wire import Admitted, HawseError

if TYPE_CHECKING:
    from hawse.client.base.results import CommandResult


class ClientClosedError(HawseError):
    """We closed it ourselves. Code `cancelled`."""

    def __init__(self, message: str = "closed by us", *, admitted: Admitted = "no") -> None:
        super().__init__("cancelled", message, admitted=admitted)


class RefusedError(HawseError):
    """The server refused the connection for good; the code is the server's (`unauthenticated`, `forbidden`, …)."""


class GaveUpError(HawseError):
    """There was no connection for longer than was allowed. Code `unavailable`."""

    def __init__(self, message: str) -> None:
        super().__init__("unavailable", message)


class BusyError(HawseError):
    """Two tasks read one stream. Code `conflict`."""

    def __init__(self, message: str = "somebody else is reading this") -> None:
        super().__init__("conflict", message)


class TruncatedError(HawseError):
    """`missing` bytes of `stream` are gone. Code `too_large`. Reading on continues after them."""

    def __init__(self, stream: str, missing: int) -> None:
        super().__init__("too_large", f"{missing} bytes of {stream} are no longer kept", admitted="yes")
        self.stream = stream
        self.missing = missing


class CommandError(HawseError):
    """The command ran and failed. Code `command_failed`; `result` holds what it printed."""

    def __init__(self, result: "CommandResult") -> None:
        how = "timed out" if result.timed_out else f"was ended by {result.signal}" if result.signal else ""
        tail = result.stderr[-500:].decode(errors="replace").strip()
        how = how or ("printed more than was kept" if result.ok else f"exited with {result.code}")
        message = f"the command {how}" + (f": {tail}" if tail else "")
        super().__init__("command_failed", message, admitted="yes")
        self.result = result


def fresh(error: HawseError) -> HawseError:
    """A copy to raise: one exception raised in many tasks would gather all their tracebacks."""
    twin = type(error).__new__(type(error), *error.args)
    twin.__dict__.update(error.__dict__)
    return twin
