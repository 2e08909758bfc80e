"""The parameters and values of `sandbox.*`."""

import msgspec

from hawse.api.sandboxes import SandboxInfo, SandboxListResult


def test_unknown_fields_of_a_sandbox_are_left_out() -> None:
    shown = msgspec.json.encode(SandboxListResult(sandboxes=[SandboxInfo(id="local", state="stopped")]))
    assert shown == b'{"sandboxes":[{"id":"local","state":"stopped"}]}'


def test_sandbox_info_has_the_fields_of_the_specification() -> None:
    shown = msgspec.json.encode(SandboxInfo(id="local", state="running", isolation="bubblewrap"))
    assert shown == b'{"id":"local","state":"running","isolation":"bubblewrap"}'
