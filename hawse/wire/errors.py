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
    retryable: bool  # whether the same call can succeed later
    meaning: str


ERRORS: dict[str, ErrorKind] = {
    "invalid_message": ErrorKind(
        400,
        False,
        "not JSON, an invalid field, an unknown type (closes the connection; of a `call`, only its channel: section 2)",
    ),
    "protocol_error": ErrorKind(400, False, "a violation of sections 1 to 4 (closes the connection)"),
    "credit_exceeded": ErrorKind(400, False, "more data than granted (closes the connection)"),
    "hello_timeout": ErrorKind(408, True, "no `hello` in time (closes the connection)"),
    "backlog": ErrorKind(429, True, "answers were not read (closes the connection)"),
    "unauthenticated": ErrorKind(401, False, "the token or ticket is missing or wrong"),
    "forbidden": ErrorKind(403, False, "authenticated, but not allowed"),
    "origin_denied": ErrorKind(403, False, "a page of another origin"),
    "unknown_method": ErrorKind(404, False, "the method does not exist"),
    "invalid_params": ErrorKind(400, False, "a parameter is unknown or wrong; `details.path` is its location"),
    "not_found": ErrorKind(404, False, "the sandbox, terminal, process or file does not exist"),
    "conflict": ErrorKind(409, False, "the id is taken; the file has changed"),
    "stale_handle": ErrorKind(410, False, "the handle belongs to an earlier runtime, terminal or process with that id"),
    "exited": ErrorKind(409, False, "input or a signal for a terminal, process or session that has ended"),
    "lease_held": ErrorKind(
        409, False, "input while another viewer holds the writer lease; `details.applied`, and the lease"
    ),
    "key_conflict": ErrorKind(409, False, "the key belongs to another call"),
    "outcome_unknown": ErrorKind(
        409, False, "the key was used but its outcome is no longer stored, or another server may have run the call"
    ),
    "input_gap": ErrorKind(409, False, "input beyond the applied offset; `details.applied`"),
    "input_overflow": ErrorKind(429, True, "the program does not read its input; `details.applied`"),
    "limit_exceeded": ErrorKind(429, True, "too many channels, terminals, processes"),
    "too_large": ErrorKind(413, False, "an argument or result beyond its limit"),
    "deadline_exceeded": ErrorKind(408, False, "the call's `timeout`"),
    "cancelled": ErrorKind(499, False, "the answer to `cancel`"),
    "spawn_failed": ErrorKind(
        422, False, "the program does not exist or is not executable, or the directory does not exist"
    ),
    "language_unavailable": ErrorKind(
        501, False, "no Jupyter kernel for the language is installed; the message states how to install one"
    ),
    "permission_denied": ErrorKind(403, False, "the operating system refuses"),
    "is_directory": ErrorKind(409, False, "the path is a directory"),
    "not_directory": ErrorKind(409, False, "a part of the path is not a directory"),
    "no_space": ErrorKind(507, True, "the disk is full"),
    "io_error": ErrorKind(500, False, "another error of the operating system; `details.errno`"),
    "unavailable": ErrorKind(
        503,
        True,
        'the sandbox cannot be reached; `admitted` is `"no"`. Not `retryable`: a program or a setting that '
        "the call needs is missing",
    ),
    "capacity_exceeded": ErrorKind(
        503, True, "the machine has no capacity for another sandbox; `details.retry_after` in seconds"
    ),
    "cleanup_pending": ErrorKind(
        409,
        True,
        "parts of the sandbox have not ended yet, and the gateway keeps trying; `details.retry_after` in seconds",
    ),
    "stopped": ErrorKind(
        409,
        False,
        "the sandbox was stopped or paused by a client: start it with `sandbox.start`. `details`: `reason`, "
        "such as `stopped by Grace`",
    ),
    "interrupted": ErrorKind(
        502, True, 'the connection to the sandbox was lost after the call was sent; `admitted` is `"unknown"`'
    ),
    "internal": ErrorKind(500, False, "a bug in the server; its details are not sent"),
}

UNKNOWN_KIND = ErrorKind(500, False, "unknown")  # for a code that only a newer version defines

MESSAGE_MAX = 4096  # characters of a sent message, which can quote long input


class LocalProtocolError(Exception):
    """This side tried something that the protocol does not allow: a bug in the caller."""


class HawseError(Exception):
    """A typed error, created on this side or received.

    Attributes:
        code: a key of `ERRORS`, or a code that a newer version defines.
        message: for people; can be empty.
        admitted: whether the work of the call has started.
        details: any JSON value, by code.
        retryable: whether the same call can succeed later.
        status: the HTTP status of the code.
        request: the id of the call in the logs of the gateway; None if unknown.
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
        return rebuilt, (type(self), self.args, self.__dict__)  # the parameters of subclasses differ


def sendable(message: str) -> str:
    """Return a sendable form of a message: at most `MESSAGE_MAX` characters, and valid in UTF-8.

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
