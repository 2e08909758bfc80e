"""The `port.*` methods."""

import msgspec
import pytest

from hawse.api import GATEWAY, METHODS
from hawse.api.ports import PortConnect, PortExpose

OURS = {name: spec for name, spec in METHODS.items() if name.startswith("port.")}


def test_a_port_is_1_to_65535() -> None:
    assert msgspec.convert({"port": 1}, PortExpose).port == 1
    assert msgspec.convert({"port": 65_535}, PortConnect).port == 65_535
    for port in (0, 65_536, -1):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert({"port": port}, PortExpose)


def test_the_methods_of_the_gateway_and_of_a_sandbox_are_disjoint() -> None:
    assert not GATEWAY.keys() & METHODS.keys()
