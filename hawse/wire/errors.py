"""All errors of the protocol, in one table, and the exceptions that carry them.

    Exception
    ├── LocalProtocolError        this side misused the connection: a bug in the caller
    └── HawseError                an error with a code from the table, which can be sent
        └── RemoteProtocolError   the other side violated the protocol: the connection must be closed

`docs/wire.md` section 8 has the same table; a test compares them.
"""

from typing import Any, Literal, NamedTuple

Admitted = Literal["yes", "no", "unknown"]


class ErrorKind(NamedTuple):
    status: int  # the HTTP response status for a call over HTTP
    retryable: bool  # whether the same call can succeed later
    meaning: str


ERRORS: dict[str, ErrorKind] = {
    "invalid_message": ErrorKind(
        400,
        False,
        "not JSON, an invalid field or an unknown type (closes the connection, or the channel of a `call`: section 2)",
    ),
    "protocol_error": ErrorKind(400, False, "a violation of sections 1 to 4 (closes the connection)"),
    "credit_exceeded": ErrorKind(400, False, "more data than granted (closes the connection)"),
    "hello_timeout": ErrorKind(408, True, "no `hello` within the time limit (closes the connection)"),
    "backlog": ErrorKind(429, True, "the client is not reading its messages (closes the connection)"),
    "unauthenticated": ErrorKind(401, False, "the token or ticket is missing or wrong"),
    "forbidden": ErrorKind(403, False, "authenticated, but not allowed"),
    "origin_denied": ErrorKind(403, False, "the page's origin is not allowed"),
    "unknown_method": ErrorKind(404, False, "the method does not exist"),
    "invalid_params": ErrorKind(400, False, "a parameter is unknown or invalid; `details.path` is its location"),
    "not_found": ErrorKind(404, False, "the sandbox, terminal, process or file does not exist"),
    "conflict": ErrorKind(
        409,
        False,
        "the request conflicts with the current state: for example, the id is taken, or the file has changed",
    ),
    "stale_handle": ErrorKind(
        410, False, "the handle refers to an earlier runtime, terminal or process with the same id"
    ),
    "exited": ErrorKind(409, False, "the terminal, process or session has ended and accepts no input or signals"),
    "lease_held": ErrorKind(
        409, False, "another viewer holds the writer lease; `details` has the lease and the `applied` input offset"
    ),
    "key_conflict": ErrorKind(409, False, "the key belongs to another call"),
    "outcome_unknown": ErrorKind(
        409, False, "the key was used but its outcome is no longer stored, or another server may have run the call"
    ),
    "input_gap": ErrorKind(409, False, "input was sent beyond the applied offset, which is `details.applied`"),
    "input_overflow": ErrorKind(
        429, True, "the program is not reading its input; `details.applied` is the applied offset"
    ),
    "limit_exceeded": ErrorKind(429, True, "too many channels, terminals, processes or other objects"),
    "too_large": ErrorKind(413, False, "an argument or result exceeds its limit"),
    "deadline_exceeded": ErrorKind(408, False, "the call's `timeout` has passed"),
    "cancelled": ErrorKind(499, False, "the call was cancelled"),
    "spawn_failed": ErrorKind(
        422, False, "the program does not exist or is not executable, or the directory does not exist"
    ),
    "language_unavailable": ErrorKind(
        501, False, "no Jupyter kernel for the language is installed; the message states how to install one"
    ),
    "permission_denied": ErrorKind(403, False, "the operating system denied access"),
    "is_directory": ErrorKind(409, False, "the path is a directory"),
    "not_directory": ErrorKind(409, False, "a part of the path is not a directory"),
    "no_space": ErrorKind(507, True, "the disk is full"),
    "io_error": ErrorKind(500, False, "another operating system error, with its number in `details.errno`"),
    "unavailable": ErrorKind(
        503,
        True,
        'the sandbox cannot be reached (`admitted` is `"no"`), or a required program or setting is missing '
        "(not `retryable`)",
    ),
    "capacity_exceeded": ErrorKind(
        503, True, "the machine has no capacity for another sandbox; retry after `details.retry_after` seconds"
    ),
    "cleanup_pending": ErrorKind(
        409,
        True,
        "parts of the sandbox are still shutting down; retry after `details.retry_after` seconds",
    ),
    "stopped": ErrorKind(
        409,
        False,
        "a client has stopped or paused the sandbox, and `sandbox.start` starts it; `details.reason` is, for "
        "example, `stopped by Grace`",
    ),
    "interrupted": ErrorKind(
        502, True, 'the connection to the sandbox was lost after the call was sent; `admitted` is `"unknown"`'
    ),
    "internal": ErrorKind(500, False, "a bug in the server; its details are not sent"),
}

UNKNOWN_KIND = ErrorKind(500, False, "unknown")  # used for codes that only a newer version defines

MESSAGE_MAX = 4096  # maximum length of an error message, which can quote long input


class LocalProtocolError(Exception):
    """This side violated the protocol: a bug in the caller."""


class HawseError(Exception):
    """A typed error, created on this side or received.

    Attributes:
        code: a key of `ERRORS`, or a code defined in a newer version.
        message: human-readable; can be empty.
        admitted: whether work on the call has started.
        details: any JSON value, depending on the code.
        retryable: whether the same call can succeed later.
        status: the code's HTTP status.
        request: the call's id in the gateway's logs; None if unknown.
    """

    code: str

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
        return rebuilt, (type(self), self.args, self.__dict__)  # subclasses have different parameters


def sendable(message: str) -> str:
    """Return a message in a form that can be sent: at most `MESSAGE_MAX` characters of valid Unicode.

    A file name that is not valid UTF-8 (surrogateescape) must not prevent the error from being sent.
    """
    if len(message) > MESSAGE_MAX:
        message = message[: MESSAGE_MAX - 1] + "…"
    return message.encode(errors="replace").decode()


def rebuilt(cls: type[HawseError], args: tuple[Any, ...], state: dict[str, Any]) -> HawseError:
    """Recreate an error from its class and attributes, for pickle and copy."""
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class RemoteProtocolError(HawseError):
    """The other side violated the protocol. A WebSocket must be closed with `close_code`."""

    def __init__(self, message: str, *, code: str = "protocol_error", close_code: int = 1008) -> None:
        super().__init__(code, message)
        self.close_code = close_code
