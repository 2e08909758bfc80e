"""The types of ports."""

import msgspec
import pytest

from hawse.api.ports import METHODS, PortConnect, PortExpose
from runtime.ports.methods import PortMethods


def test_a_port_is_1_to_65535() -> None:
    assert msgspec.convert({"port": 1}, PortExpose).port == 1
    assert msgspec.convert({"port": 65_535}, PortConnect).port == 65_535
    for port in (0, 65_536, -1):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert({"port": port}, PortExpose)


async def test_the_runtime_serves_these_methods_with_these_types() -> None:
    served = PortMethods("0123456789abcdef", None).methods()  # type: ignore[arg-type]  # nothing is called
    assert {name: method.shape for name, method in served.items()} == {name: s.params for name, s in METHODS.items()}
    assert {name for name, method in served.items() if method.stream} == {n for n, s in METHODS.items() if s.stream}
