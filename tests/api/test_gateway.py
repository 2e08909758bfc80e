"""The methods of the gateway itself."""

import msgspec

from hawse.api import GATEWAY, METHODS
from hawse.api.gateway import SandboxInfo, SandboxListResult


def test_unknown_fields_of_a_sandbox_are_left_out() -> None:
    shown = msgspec.json.encode(SandboxListResult(sandboxes=[SandboxInfo(id="local", state="stopped")]))
    assert shown == b'{"sandboxes":[{"id":"local","state":"stopped"}]}'


def test_the_methods_of_the_gateway_and_of_a_sandbox_are_disjoint() -> None:
    assert not GATEWAY.keys() & METHODS.keys()
