"""The messages between a gateway and a machine that has joined it (docs/wire.md section 12).

They are sent as text messages on a WebSocket. Binary messages carry the link between the gateway and the machine's
runtime, as a single byte stream without regard to message boundaries.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from hawse.wire.errors import RemoteProtocolError

JOIN_SUBPROTOCOL: Final = "hawse.join.v1"
JOIN_PATH: Final = "/v1/join"
JOIN_TEXT: Final = 4096  # maximum size of a message, in bytes
AGAIN: Final = 1012  # close code that asks the machine to reconnect (RFC 6455: service restart)
CONFLICT: Final = 4409  # close code used when another machine has joined the sandbox

Text = Annotated[str, Meta(max_length=1024)]
RuntimeId = Annotated[str, Meta(pattern=r"^[0-9a-f]{16}$")]
SandboxId = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]
MachineName = Annotated[str, Meta(max_length=256)]


class JoinMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", tag=str.lower):
    """The base class for join messages. The `type` of a message is the lower-case name of its class unless the class
    sets a `tag`.
    """


class Join(JoinMessage, frozen=True, kw_only=True):
    """The machine's first message.

    Attributes:
        runtime: The id of its runtime.
        sandbox: The sandbox to join. None means the only sandbox the token is for.
        name: The machine's name, such as `ann@laptop:/home/ann/project`.
    """

    runtime: RuntimeId
    sandbox: SandboxId | None = None
    name: MachineName = ""


class Leave(JoinMessage, frozen=True, kw_only=True):
    """From the machine: all of the sandbox's programs have exited on the machine, and it will not reconnect."""

    reason: Text = ""


class JoinAccepted(JoinMessage, frozen=True, kw_only=True, tag="joined"):
    """The gateway's response: the machine is now the sandbox."""

    sandbox: SandboxId


class Refused(JoinMessage, frozen=True, kw_only=True):
    """From the gateway, before it closes the connection: the reason for closing.

    Attributes:
        code: The error code (docs/wire.md section 8).
        message: Human-readable message.
        retryable: Whether another attempt could succeed.
    """

    code: str
    message: Text = ""
    retryable: bool = False


class Quit(JoinMessage, frozen=True, kw_only=True):
    """From the gateway: the machine must end all of the sandbox's programs, reply with `leave`, and not reconnect."""

    reason: Text = ""


FromMachine = Join | Leave
FromGateway = JoinAccepted | Refused | Quit

_from_machine: msgspec.json.Decoder[FromMachine] = msgspec.json.Decoder(FromMachine)
_from_gateway: msgspec.json.Decoder[FromGateway] = msgspec.json.Decoder(FromGateway)


def encode_join(message: JoinMessage) -> str:
    """Encode a message."""
    return msgspec.json.encode(message).decode()


def parse_machine(text: str) -> FromMachine:
    """Decode a message from a machine. Raises `RemoteProtocolError`."""
    with _bounded(text):
        return _from_machine.decode(text)


def parse_gateway(text: str) -> FromGateway:
    """Decode a message from a gateway. Raises `RemoteProtocolError`."""
    with _bounded(text):
        return _from_gateway.decode(text)


@contextmanager
def _bounded(text: str) -> Iterator[None]:
    if len(text) > JOIN_TEXT:
        raise RemoteProtocolError(f"a message has {len(text)} characters; the limit is {JOIN_TEXT}", close_code=1009)
    try:
        yield
    except (ValueError, RecursionError) as error:
        raise RemoteProtocolError(str(error)[:256], code="invalid_message", close_code=1007) from None
