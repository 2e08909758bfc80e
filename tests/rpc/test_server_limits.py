"""The bounds of a server's links."""

from hawse.rpc.server_limits import ServerLimits
from hawse.wire.limits import LINK_CHANNELS


def test_one_link_may_have_all_calls_of_a_server() -> None:
    limits = ServerLimits()
    assert limits.wire.channels == limits.calls == LINK_CHANNELS
