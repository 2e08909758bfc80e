"""What the gateway answers itself, as types."""

import msgspec

from hawse.api import GATEWAY, METHODS
from hawse.api.gateway import SandboxInfo, SandboxListResult


def test_a_sandbox_says_no_more_than_is_known() -> None:
    shown = msgspec.json.encode(SandboxListResult(sandboxes=[SandboxInfo(id="local", state="stopped")]))
    assert shown == b'{"sandboxes":[{"id":"local","state":"stopped"}]}'


def test_what_the_gateway_answers_no_sandbox_does() -> None:
    assert not GATEWAY.keys() & METHODS.keys()
