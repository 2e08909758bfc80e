"""The methods of the gateway itself."""

from hawse.api import GATEWAY, METHODS


def test_the_methods_of_the_gateway_and_of_a_sandbox_are_disjoint() -> None:
    assert not GATEWAY.keys() & METHODS.keys()
