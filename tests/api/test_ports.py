"""The `port.*` methods."""

import msgspec
import pytest

from hawse.api import METHODS
from hawse.api.ports import PortConnect, PortExpose

OURS = {name: spec for name, spec in METHODS.items() if name.startswith("port.")}


def test_a_port_is_1_to_65535() -> None:
    assert msgspec.convert({"port": 1}, PortExpose).port == 1
    assert msgspec.convert({"port": 65_535}, PortConnect).port == 65_535
    for port in (0, 65_536, -1):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert({"port": port}, PortExpose)
