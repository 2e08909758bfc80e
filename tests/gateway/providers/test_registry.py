from dataclasses import replace
from pathlib import Path

import pytest

from gateway.providers.base import ProviderError
from gateway.providers.local import LocalProvider
from gateway.providers.registry import ProviderOptions, create_provider, runtime_arguments
from gateway.providers.state_directory import StateDirectory


@pytest.fixture
def options(tmp_path: Path) -> ProviderOptions:
    return ProviderOptions(state=StateDirectory(tmp_path), isolation="none", quota=5, log_format="json")


async def test_the_local_provider_is_selected_by_its_name(options: ProviderOptions) -> None:
    provider = create_provider("local", options)
    assert isinstance(provider, LocalProvider)
    capabilities = await provider.capabilities()
    assert (capabilities.provider, capabilities.isolation_reason) == ("local", "requested by --isolation none")


def test_an_unknown_name_is_an_error_that_lists_the_known_ones(options: ProviderOptions) -> None:
    with pytest.raises(ProviderError, match="--provider moon: unknown provider; available: local, docker"):
        create_provider("moon", options)


def test_runtimes_limit_the_terminals_of_each_user(options: ProviderOptions) -> None:
    assert runtime_arguments(replace(options, max_terminals=3))[-2:] == ["--terminals-of-each", "3"]
