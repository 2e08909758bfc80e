"""The parameters of tunnels."""

import msgspec
import pytest

from hawse.api import GATEWAY
from hawse.api.tunnels import TunnelCreate


def test_they_are_methods_of_the_gateway_with_the_rights_of_the_sandbox() -> None:
    found = {name: spec for name, spec in GATEWAY.items() if name.startswith("tunnel.")}
    assert set(found) == {"tunnel.create", "tunnel.list", "tunnel.delete"}
    assert {spec.target for spec in found.values()} == {"sandbox"}


@pytest.mark.parametrize("name", ["a", "shop", "2048", "my-shop-2", "a" * 40])
def test_a_name_is_a_part_of_a_host_name(name: str) -> None:
    assert msgspec.convert({"sandbox": "box", "port": 80, "name": name}, TunnelCreate).name == name


@pytest.mark.parametrize("name", ["", "-a", "a-", "a--b", "A", "a.b", "a_b", "ü", "a\n", "a/b", "a" * 41])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"sandbox": "box", "port": 80, "name": name}, TunnelCreate)


@pytest.mark.parametrize("seconds", [0, -1, float("inf")])
def test_it_expires_in_the_future(seconds: float) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"sandbox": "box", "port": 80, "expires_in": seconds}, TunnelCreate)
