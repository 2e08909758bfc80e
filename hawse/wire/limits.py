"""The limits of protocol version 1, each with its unit and its rationale. `welcome.limits` announces them."""

from typing import Annotated

import msgspec
from msgspec import Meta

PROTOCOL = 1
SUBPROTOCOL = "hawse.v1"
LINK_CHANNELS = 65_536  # maximum number of channels on a link to a runtime, which carries all clients' channels
EVENT_OVERHEAD = 64  # window bytes that an event uses in addition to its value, so that empty events aren't free


Size = Annotated[int, Meta(ge=1)]


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits that a server enforces on each connection. Sizes are in bytes, times in seconds."""

    text: Size = 1 << 20  # maximum size of a control message; limits the cost of parsing it
    payload: Size = 1 << 16  # maximum size of a frame; after each frame, another channel gets its turn
    channels: Size = 1024  # maximum number of channels open at once
    window_max: Size = 4 << 20  # a channel's largest window: bandwidth × round-trip time for 320 Mbit/s and 100 ms
    input_window: Size = 1 << 18  # bytes of unacknowledged input that a client may send, and must keep for resending
    backlog: Size = 8 << 20  # maximum total size of messages that a client has not read yet
    hello_timeout: float = 10.0
