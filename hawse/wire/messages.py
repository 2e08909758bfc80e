"""Control messages: immutable structs whose JSON form is specified in docs/wire.md section 2.

`params` and `value` are not decoded (`msgspec.Raw`) until they are used, so a gateway forwards them unchanged, byte for
byte.
"""

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw, field

from hawse.wire.errors import Admitted, HawseError, sendable
from hawse.wire.limits import Limits

CHANNEL_MAX = (1 << 32) - 1
GRANT_MAX = 4 << 20

ChannelId = Annotated[int, Meta(ge=1, le=CHANNEL_MAX)]
Grant = Annotated[int, Meta(ge=1, le=GRANT_MAX)]
Key = Annotated[str, Meta(min_length=1, max_length=128)]
Age = Annotated[float, Meta(ge=0, le=10**9)]
Right = Annotated[str, Meta(min_length=1, max_length=160)]  # length of the longest right: a name, `@` and a terminal id
Trace = Annotated[str, Meta(max_length=256)]
RequestId = Annotated[str, Meta(max_length=64)]
Seconds = Annotated[float, Meta(gt=0, le=10**9)]

ABILITY_PRINCIPALS = "principals"  # in `welcome`: this runtime checks the rights of a call's principal
ABILITY_SHARED = "shared"  # in `hello`: this client accepts frames shared by many channels

NULL = Raw(b"null")
EMPTY = Raw(b"{}")


class Principal(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A method's authenticated caller, as described by a gateway to a runtime.

    Attributes:
        id: identifies the caller; the same in all calls from the same caller.
        name: the display name; can be empty.
        kind: `owner`, `user`, `guest` or `service`. Receivers must accept other values, because later versions may add
            some.
        rights: names defined in `hawse.api.rights`. `*` is every right; unknown names grant nothing.
        credential: id (not secret) of the credential presented by the caller; None if the gateway needs no credential.
    """

    id: Annotated[str, Meta(min_length=1, max_length=128)]
    name: Annotated[str, Meta(max_length=128)]
    kind: Annotated[str, Meta(min_length=1, max_length=32)]
    rights: Annotated[tuple[Right, ...], Meta(max_length=64)]
    credential: Annotated[str, Meta(min_length=1, max_length=128)] | None = None


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", tag=str.lower):
    """The base class of all control messages. The `type` of a message is the lower-case name of its class.

    Fields marked with `?` in the specification are omitted if they have their default value. Required fields have a
    default factory instead of a default value, so they are always written.
    """


class Hello(Message, frozen=True, kw_only=True):
    """The client's first message. `window` is the initial window of each new channel, in bytes."""

    protocol: int
    client: Annotated[str, Meta(max_length=256)]
    window: Annotated[int, Meta(ge=0, le=GRANT_MAX)]
    token: str | None = None
    abilities: list[str] = []


class Welcome(Message, frozen=True, kw_only=True):
    protocol: int
    server: str
    identity: str
    role: str
    limits: Limits
    abilities: list[str] = field(default_factory=lambda: [])


class Call(Message, frozen=True, kw_only=True):
    """Opens channel `ch`. `timeout` is in seconds. `age`, for a repeated call, is the number of seconds since it was
    first sent.

    `trace` is the caller's W3C `traceparent`; an invalid one is ignored. `principal` is the gateway's description of
    the caller, for a runtime. A gateway ignores a principal from a client.
    """

    ch: ChannelId
    method: Annotated[str, Meta(min_length=1, max_length=128)]
    sandbox: Annotated[str, Meta(min_length=1, max_length=128)] | None = None
    params: Raw = EMPTY
    key: Key | None = None
    timeout: Seconds | None = None
    age: Age | None = None
    trace: Trace | None = None
    principal: Principal | None = None


class Event(Message, frozen=True, kw_only=True):
    ch: ChannelId
    name: str
    value: Raw = field(default_factory=lambda: NULL)
    seq: int | None = None


class Result(Message, frozen=True, kw_only=True):
    ch: ChannelId
    value: Raw = field(default_factory=lambda: NULL)


class Error(Message, frozen=True, kw_only=True):
    """Closes channel `ch`. Without `ch`, the message states why the connection is about to be closed.

    `request` is the call's id in the gateway's logs.
    """

    code: str
    message: str
    retryable: bool
    admitted: Admitted
    ch: ChannelId | None = None
    details: Raw = NULL
    request: RequestId | None = None

    @classmethod
    def from_exception(cls, error: HawseError, ch: int | None = None) -> "Error":
        return cls(
            ch=ch,
            code=error.code,
            message=sendable(error.message),
            retryable=error.retryable,
            admitted=error.admitted,
            details=_details(error),
            request=error.request,
        )

    def to_exception(self) -> HawseError:
        return HawseError(
            self.code,
            self.message,
            admitted=self.admitted,
            retryable=self.retryable,
            details=from_raw(self.details),
            request=self.request,
        )


class Cancel(Message, frozen=True, kw_only=True):
    ch: ChannelId


class End(Message, frozen=True, kw_only=True):
    ch: ChannelId


class Credit(Message, frozen=True, kw_only=True):
    """Allows the receiver to send `bytes` more on `ch`."""

    ch: ChannelId
    bytes: Grant


class Ping(Message, frozen=True, kw_only=True):
    t: float


class Pong(Message, frozen=True, kw_only=True):
    t: float


class Goaway(Message, frozen=True, kw_only=True):
    """Asks the client to reconnect after `retry_after` seconds. The connection is then closed with code 1012."""

    reason: str
    retry_after: float


FromClient = Hello | Call | Cancel | End | Credit | Ping | Pong
FromServer = Welcome | Event | Result | Error | Credit | Ping | Pong | Goaway

_encoder = msgspec.json.Encoder()
from_client = msgspec.json.Decoder(FromClient)
from_server = msgspec.json.Decoder(FromServer)


def encode(message: Message) -> bytes:
    return _encoder.encode(message)


def to_raw(value: Any) -> Raw:
    """Encode a field's value as JSON."""
    return Raw(_encoder.encode(value))


def _details(error: HawseError) -> Raw:
    """Encode the details, or omit them if they contain a file name that is not valid UTF-8."""
    try:
        return NULL if error.details is None else to_raw(error.details)
    except UnicodeEncodeError:
        return NULL


def from_raw(raw: Raw) -> Any:
    return msgspec.json.decode(raw)
