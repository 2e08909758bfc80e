"""The limits are those that docs/wire.md specifies."""

import re

import msgspec
import pytest

from hawse.wire import Limits
from hawse.wire.channel import Channel
from hawse.wire.connection import Connection, Role
from hawse.wire.limits import EVENT_OVERHEAD, LINK_CHANNELS, PROTOCOL, SUBPROTOCOL
from hawse.wire.messages import CHANNEL_MAX, GRANT_MAX
from tests.support import wire as kit


def test_the_limits_are_those_of_section_7() -> None:
    documented = {
        name.strip("`"): float(re.match(r"[\d,]+", value)[0].replace(",", ""))  # type: ignore[index]
        for name, value, _ in kit.table("7. Limits", "name")
    }
    assert documented == msgspec.to_builtins(Limits())


def test_the_numbers_in_the_specification_are_those_in_the_code() -> None:
    assert f"The hawse wire protocol, version {PROTOCOL}\n" in kit.PAGE
    assert f"subprotocol `{SUBPROTOCOL}`" in kit.PAGE
    assert f"`ch` is 1 to {CHANNEL_MAX:,}." in kit.PAGE
    assert f"`bytes` (1 to {GRANT_MAX:,})" in kit.PAGE
    assert f"each new channel before further credit, 0 to {GRANT_MAX:,} |" in kit.PAGE
    assert f"its `value` as encoded, plus {EVENT_OVERHEAD};" in kit.PAGE


def test_one_grant_can_fill_a_window() -> None:
    assert Limits().window_max == GRANT_MAX
    assert Limits().input_window <= Limits().window_max


def test_a_link_has_room_for_the_channels_of_many_clients() -> None:
    assert 16 * Limits().channels <= LINK_CHANNELS <= CHANNEL_MAX


@pytest.mark.parametrize("name", [name for name in Limits.__struct_fields__ if name != "hello_timeout"])
@pytest.mark.parametrize("value", [0, -1, 1.5, None, "1"])
def test_a_server_cannot_announce_a_limit_that_is_not_a_size(name: str, value: object) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(msgspec.json.encode({name: value}), type=Limits)


def test_channels_start_with_the_announced_windows() -> None:
    client, server = kit.pair(Limits(input_window=77), window=99)
    client.call("m")
    kit.deliver(client, server)
    for connection, send, receive in ((client, 77, 99), (server, 99, 77)):
        channel: Channel = connection.channels[1]
        assert (channel.send_window, channel.receive_window) == (send, receive)


def test_a_connection_has_the_limits_of_version_1_until_it_receives_others() -> None:
    assert Connection(Role.CLIENT).limits == Limits()
