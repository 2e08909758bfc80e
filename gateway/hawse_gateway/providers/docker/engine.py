"""A Docker Engine client that finds objects by label and translates errors."""

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final

import aiodocker
import aiohttp
from aiodocker.containers import DockerContainer
from aiodocker.volumes import DockerVolume

from hawse.wire import HawseError

REQUEST_TIMEOUT: Final = 30.0  # seconds to wait for a response; image methods and `stop` have different limits
NOT_FOUND: Final = 404
IN_PROGRESS: Final = 409  # the container is being changed, or its state has changed


class Engine:
    """A Docker Engine. Methods raise `HawseError` (`unavailable`) for all engine errors."""

    def __init__(self, address: str | None = None) -> None:
        """Create the client without connecting.

        Args:
            address: An address such as `unix:///run/docker.sock`. Defaults to the address that the docker command uses.
        """
        self._address = address
        self._client: aiodocker.Docker | None = None

    @asynccontextmanager
    async def client(self) -> AsyncIterator[aiodocker.Docker]:
        """Yield the API client. Errors in the `async with` block are converted to `unavailable`."""
        try:
            if self._client is None:
                timeout = aiohttp.ClientTimeout(total=REQUEST_TIMEOUT)
                self._client = aiodocker.Docker(url=self._address, timeout=timeout)
            yield self._client
        except aiodocker.DockerError as error:
            raise HawseError("unavailable", f"the Docker Engine refused a request: {error.message}") from error
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            reason = str(error) or type(error).__name__
            raise HawseError("unavailable", f"the Docker Engine cannot be reached: {reason}") from error
        except AssertionError as error:  # raised by aiodocker
            raise HawseError("unavailable", "no Docker Engine was found: set DOCKER_HOST") from error

    async def information(self) -> Mapping[str, Any]:
        """Return the engine's properties and capabilities, as shown by `docker info`."""
        async with self.client() as client:
            return await client.system.info()

    async def containers(self, labels: Mapping[str, str]) -> list[DockerContainer]:
        """Return the containers with these labels, running or not."""
        async with self.client() as client:
            return await client.containers.list(all=1, filters=json.dumps(_filters(labels)))

    async def volumes(self, labels: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return the volumes with these labels."""
        async with self.client() as client:
            listed = await _volumes(client).list(filters=_filters(labels))
            return listed["Volumes"] or []

    async def create_volume(self, settings: Mapping[str, Any]) -> None:
        """Create a volume unless it already exists."""
        async with self.client() as client:
            await _volumes(client).create(settings)

    async def remove_container(self, container: DockerContainer, grace: int) -> bool:
        """Stop and remove a container. Return False if the engine refuses because the container is being changed.

        Also return False if the engine can't find the container, because it may still be listed.

        Args:
            container: A container returned by `containers`.
            grace: Seconds between SIGTERM and SIGKILL.
        """
        async with self.client():
            with _ignored(NOT_FOUND, IN_PROGRESS):
                if container["State"] == "paused":
                    await container.unpause()
                if container["State"] in ("running", "paused", "restarting"):
                    await container.stop(t=grace, timeout=grace + REQUEST_TIMEOUT)
            try:
                await container.delete(force=True, v=True)
            except aiodocker.DockerError as error:
                if error.status not in (NOT_FOUND, IN_PROGRESS):
                    raise
                return False
        return True

    async def remove_volume(self, name: str) -> None:
        """Remove a volume. Has no effect if the volume does not exist."""
        async with self.client() as client:
            with _ignored(NOT_FOUND):
                volume: Any = DockerVolume(client, name)  # type: ignore[no-untyped-call]
                await volume.delete()

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()
            self._client = None


def _volumes(client: aiodocker.Docker) -> Any:
    """Return the volumes API. aiodocker's volumes API has no type annotations."""
    return client.volumes


def _filters(labels: Mapping[str, str]) -> dict[str, list[str]]:
    return {"label": [f"{name}={value}" for name, value in labels.items()]}


@contextmanager
def _ignored(*codes: int) -> Iterator[None]:
    """Ignore engine errors with these status codes."""
    try:
        yield
    except aiodocker.DockerError as error:
        if error.status not in codes:
            raise
