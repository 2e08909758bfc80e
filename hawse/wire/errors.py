"""Every error of the protocol, in one table, and the exceptions that carry them.

    Exception
    ├── LocalProtocolError        this side used the connection wrongly: a bug in the caller
    └── HawseError                an error with a code of the table, as it is sent
        └── RemoteProtocolError   the other side violated the protocol: the connection must be closed

`docs/wire.md` section 8 has the same table; a test compares them.
"""

from typing import Any, Literal, NamedTuple

Admitted = Literal["yes", "no", "unknown"]


class ErrorKind(NamedTuple):
    status: int  # the HTTP status of the answer when the call came by HTTP
    retryable: bool  # whether the same call may succeed later


ERRORS: dict[str, ErrorKind] = {
    "invalid_message": ErrorKind(400, False),
    "protocol_error": ErrorKind(400, False),
    "credit_exceeded": ErrorKind(400, False),
    "hello_timeout": ErrorKind(408, True),
    "backlog": ErrorKind(429, True),
    "unauthenticated": ErrorKind(401, False),
    "forbidden": ErrorKind(403, False),
    "origin_denied": ErrorKind(403, False),
    "unknown_method": ErrorKind(404, False),
    "invalid_params": ErrorKind(400, False),
    "not_found": ErrorKind(404, False),
    "conflict": ErrorKind(409, False),
    "stale_handle": ErrorKind(410, False),
    "exited": ErrorKind(409, False),
    "lease_held": ErrorKind(409, False),
    "key_conflict": ErrorKind(409, False),
    "outcome_unknown": ErrorKind(409, False),
    "input_gap": ErrorKind(409, False),
    "input_overflow": ErrorKind(429, True),
    "limit_exceeded": ErrorKind(429, True),
    "too_large": ErrorKind(413, False),
    "deadline_exceeded": ErrorKind(408, False),
    "cancelled": ErrorKind(499, False),
    "spawn_failed": ErrorKind(422, False),
    "language_unavailable": ErrorKind(501, False),
    "permission_denied": ErrorKind(403, False),
    "is_directory": ErrorKind(409, False),
    "not_directory": ErrorKind(409, False),
    "no_space": ErrorKind(507, True),
    "io_error": ErrorKind(500, False),
    "unavailable": ErrorKind(503, True),
    "capacity_exceeded": ErrorKind(503, True),
    "cleanup_pending": ErrorKind(409, True),
    "stopped": ErrorKind(409, False),
    "interrupted": ErrorKind(502, True),
    "internal": ErrorKind(500, False),
}

UNKNOWN_KIND = ErrorKind(500, False)  # for a code that only a newer version defines

MESSAGE_MAX = 4096  # characters of a message that is sent: it may quote what was received, which may be long


class LocalProtocolError(Exception):
    """This side tried something that the protocol does not allow: a bug in the caller."""


class HawseError(Exception):
    """A typed error, created on this side or received.

    Attributes:
        code: a key of `ERRORS`, or a code that a newer version defines.
        message: for people; may be empty.
        admitted: whether the work of the call was begun.
        details: any JSON value, by code.
        retryable: whether the same call may succeed later.
        status: the HTTP status of the code.
        request: the id of the call in the logs of the gateway; None if it is not known.
    """

    def __init__(
        self,
        code: str,
        message: str = "",
        *,
        admitted: Admitted = "no",
        details: Any = None,
        retryable: bool | None = None,
        request: str | None = None,
    ) -> None:
        super().__init__(f"{code}: {message}" if message else code)
        self.code = code
        self.message = message
        self.admitted: Admitted = admitted
        self.details = details
        self.request = request
        kind = ERRORS.get(code, UNKNOWN_KIND)
        self.retryable: bool = kind.retryable if retryable is None else retryable
        self.status: int = kind.status

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuilt, (type(self), self.args, self.__dict__)  # the parameters of subclasses differ


def sendable(message: str) -> str:
    """Return a message as it may be sent: at most `MESSAGE_MAX` characters, all of which UTF-8 can encode.

    A file name that is not valid UTF-8 (surrogateescape) must not prevent the error from being sent.
    """
    if len(message) > MESSAGE_MAX:
        message = message[: MESSAGE_MAX - 1] + "…"
    return message.encode(errors="replace").decode()


def rebuilt(cls: type[HawseError], args: tuple[Any, ...], state: dict[str, Any]) -> HawseError:
    """Return an error of a class with the attributes of another, for pickle and for a copy."""
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class RemoteProtocolError(HawseError):
    """The other side violated the protocol. A WebSocket must be closed with `close_code`."""

    def __init__(self, message: str, *, code: str = "protocol_error", close_code: int = 1008) -> None:
        super().__init__(code, message)
        self.close_code = close_code
