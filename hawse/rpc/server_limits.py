"""The limits for a server's links."""

import msgspec

from hawse.wire import Limits
from hawse.wire.limits import LINK_CHANNELS


class ServerLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits for a server's links."""

    links: int = 64  # maximum number of concurrent links from gateways and tests; each can hold a write buffer
    calls: int = LINK_CHANNELS  # maximum number of open calls across all links; a share is reserved for the owner
    silence: float = 60.0  # seconds without a byte from a gateway on another machine before its link is dropped
    wire: Limits = msgspec.field(default_factory=lambda: Limits(channels=LINK_CHANNELS))  # limits for each link
