import inspect
from pathlib import Path

import msgspec

from gateway.providers.base import Endpoint, Provider, TcpAddress
from gateway.providers.local import LocalProvider
from hawse.api.gateway import SandboxInfo
from tests.support.gateway import FakeProvider


def test_sandbox_info_has_the_fields_of_the_specification() -> None:
    shown = msgspec.json.encode(SandboxInfo(id="local", state="running", isolation="bubblewrap"))
    assert shown == b'{"id":"local","state":"running","isolation":"bubblewrap"}'
    assert msgspec.json.encode(SandboxInfo(id="x", state="stopped")) == b'{"id":"x","state":"stopped"}'


def test_the_fake_and_the_local_provider_implement_the_interface_with_coroutines() -> None:
    kinds: list[type[Provider]] = [FakeProvider, LocalProvider]
    names = [name for name, member in vars(Provider).items() if callable(member) and not name.startswith("_")]
    assert len(names) == 8
    assert all(inspect.iscoroutinefunction(getattr(kind, name)) for kind in kinds for name in names)


def test_a_token_is_not_in_the_repr() -> None:
    assert "secret" not in repr(Endpoint(Path("/s"), "secret"))


def test_a_tcp_address_is_formatted_as_the_runtime_parses_it() -> None:
    assert str(TcpAddress("127.0.0.1", 80)) == "127.0.0.1:80"
    assert str(TcpAddress("::1", 80)) == "[::1]:80"
