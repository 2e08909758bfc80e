from dataclasses import replace
from pathlib import Path

import pytest

from hawse_gateway.providers.base import ProviderError
from hawse_gateway.providers.local import LocalProvider
from hawse_gateway.providers.registry import ProviderOptions, create_provider, create_providers, runtime_arguments
from hawse_gateway.providers.state_directory import StateDirectory


@pytest.fixture
def options(tmp_path: Path) -> ProviderOptions:
    return ProviderOptions(state=StateDirectory(tmp_path), isolation="none", quota=5, log_format="json")


async def test_the_local_provider_is_selected_by_its_name(options: ProviderOptions) -> None:
    provider = create_provider("local", options)
    assert isinstance(provider, LocalProvider)
    capabilities = await provider.capabilities()
    assert (capabilities.provider, capabilities.isolation_reason) == ("local", "requested by --isolation none")


async def test_the_operator_sets_how_long_a_start_may_take(options: ProviderOptions) -> None:
    default = (await create_provider("local", options).capabilities()).start_timeout
    longer = (await create_provider("local", replace(options, start_timeout=500.0)).capabilities()).start_timeout
    assert (default, longer > 500) == (60, True)


def test_an_unknown_name_is_an_error_that_lists_the_known_ones(options: ProviderOptions) -> None:
    with pytest.raises(ProviderError, match="--provider moon: unknown provider; available: local, docker, kubernetes"):
        create_provider("moon", options)


def test_the_kubernetes_provider_needs_a_file_and_a_kubeconfig(
    options: ProviderOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "missing"))
    with pytest.raises(ProviderError, match="needs --kubernetes, the file with its settings"):
        create_provider("kubernetes", options)
    path = tmp_path / "kubernetes.toml"
    path.write_text('runtime_image = "a:1"')
    with pytest.raises(ProviderError, match="no usable kubeconfig"):
        create_provider("kubernetes", replace(options, kubernetes=path))
    with pytest.raises(ProviderError, match="supports private and host"):
        create_provider("kubernetes", replace(options, kubernetes=path, network="none"))


def test_runtimes_limit_the_terminals_of_each_user(options: ProviderOptions) -> None:
    assert runtime_arguments(replace(options, max_terminals=3))[-2:] == ["--terminals-of-each", "3"]


def test_machines_can_join_a_gateway_that_has_its_store_for_itself(options: ProviderOptions) -> None:
    assert list(create_providers("local", options, alone=True)) == ["local", "joined"]
    assert list(create_providers("local", options, alone=False)) == ["local"]
