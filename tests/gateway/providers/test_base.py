import inspect
from pathlib import Path

from hawse.api.sandboxes import Enforcement, SandboxLimits
from hawse_gateway.providers.base import Capabilities, Endpoint, Provider, SandboxSpec, TcpAddress
from hawse_gateway.providers.local import LocalProvider
from tests.support.providers import ModelProvider


def test_the_fake_and_the_local_provider_implement_the_interface_with_coroutines() -> None:
    kinds: list[type[Provider]] = [ModelProvider, LocalProvider]
    names = [name for name, member in vars(Provider).items() if callable(member) and not name.startswith("_")]
    assert len(names) == 12
    assert all(inspect.iscoroutinefunction(getattr(kind, name)) for kind in kinds for name in names)


def test_a_token_is_not_in_the_repr() -> None:
    assert "secret" not in repr(Endpoint(Path("/s"), "secret"))


def test_a_tcp_address_is_formatted_as_the_runtime_parses_it() -> None:
    assert str(TcpAddress("127.0.0.1", 80)) == "127.0.0.1:80"
    assert str(TcpAddress("::1", 80)) == "[::1]:80"


def test_enforcement_follows_the_request_of_a_sandbox() -> None:
    default = Enforcement(network="private", user=True, limits=SandboxLimits(processes=4096))
    capabilities = Capabilities(
        provider="p", isolation="bubblewrap", limits=("processes", "memory"), enforcement=default
    )
    assert capabilities.enforced(SandboxSpec()) == default
    asked = SandboxSpec(network="host", limits=SandboxLimits(memory=1 << 20, processes=5, disk=1))
    assert capabilities.enforced(asked) == Enforcement(
        network="host", user=True, limits=SandboxLimits(memory=1 << 20, processes=5)
    )


def test_without_isolation_nothing_is_enforced() -> None:
    asked = SandboxSpec(limits=SandboxLimits(memory=1 << 20))
    assert Capabilities(provider="p", isolation="none").enforced(asked) == Enforcement(network="host")
