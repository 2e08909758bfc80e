from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from hawse_gateway.providers.docker.provider import GATEWAY_ID, DockerProvider
from hawse_gateway.providers.state_directory import StateDirectory
from tests.support import docker


@pytest.fixture(scope="session")
def images() -> None:
    docker.make_images()


@pytest.fixture
def state(tmp_path: Path) -> StateDirectory:
    return StateDirectory(tmp_path / "s")


@pytest_asyncio.fixture
async def make_provider(
    images: None, bundle: Path, state: StateDirectory
) -> AsyncIterator[Callable[..., DockerProvider]]:
    """Creates providers for one state directory. Their leftovers are removed after the test."""
    providers: list[DockerProvider] = []

    def make(image: str = docker.BUSYBOX, grace: int = 5) -> DockerProvider:
        providers.append(DockerProvider(state, bundle, engine=docker.ADDRESS, image=image, grace=grace))
        return providers[-1]

    try:
        yield make
    finally:
        for provider in providers:
            await provider.close()
        docker.clean(state.identity(GATEWAY_ID))


@pytest.fixture
def provider(make_provider: Callable[..., DockerProvider]) -> DockerProvider:
    return make_provider()
