import msgspec

from gateway.providers.base import Provider
from gateway.providers.local import LocalProvider
from hawse.api.gateway import SandboxInfo
from tests.support.gateway import FakeProvider


def test_a_sandbox_is_shown_as_the_specification_says() -> None:
    shown = msgspec.json.encode(SandboxInfo(id="local", state="running", isolation="bubblewrap"))
    assert shown == b'{"id":"local","state":"running","isolation":"bubblewrap"}'
    assert msgspec.json.encode(SandboxInfo(id="x", state="stopped")) == b'{"id":"x","state":"stopped"}'


def test_the_fake_and_the_real_one_are_providers() -> None:
    kinds: list[type[Provider]] = [FakeProvider, LocalProvider]
    assert all(hasattr(kind, name) for kind in kinds for name in ("sandboxes", "knows", "ensure"))
