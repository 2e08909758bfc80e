"""A Docker Engine's images."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import aiodocker

from hawse.api.images import ImageInfo
from hawse.wire import HawseError
from hawse_gateway.providers.base import Progress, Report
from hawse_gateway.providers.docker.engine import IN_PROGRESS, NOT_FOUND, Engine

PULL_TIMEOUT: Final = 1800.0  # timeout in seconds; long enough to pull a large image over a slow network


class Images:
    """An engine's images. Methods raise `HawseError` (`unavailable`) for all engine errors."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def exists(self, image: str) -> bool:
        async with self._engine.client() as client:
            try:
                await client.images.inspect(image)
            except aiodocker.DockerError as error:
                if error.status != NOT_FOUND:
                    raise
                return False
            return True

    async def inspect(self, image: str) -> Mapping[str, Any]:
        """Return the engine's description of an image. Raises `HawseError` (`not_found`) if the image is missing."""
        async with self._engine.client() as client:
            with _refused(NOT_FOUND, "not_found", f"image {image} not found"):
                return await client.images.inspect(image)

    async def list(self) -> list[ImageInfo]:
        """Return all of the engine's images that have a name."""
        async with self._engine.client() as client:
            found = await client.images.list()
        named = [each for each in found if _names(each)]
        return sorted((_info(each, float(each["Created"])) for each in named), key=lambda info: info.names)

    async def remove(self, image: str) -> None:
        """Remove a name from an image. Raises `HawseError` (`not_found`, or `conflict` if a container uses the
        image)."""
        async with self._engine.client() as client:
            with (
                _refused(NOT_FOUND, "not_found", f"image {image} not found"),
                _refused(IN_PROGRESS, "conflict", f"image {image} is in use"),
            ):
                await client.images.delete(image)

    async def ensure(self, image: str, report: Report) -> None:
        """Pull an image unless the engine already has it.

        Args:
            image: The image name with a tag or digest. The default tag is `latest`.
            report: Called with the progress.

        Raises:
            HawseError: `invalid_params` if the image does not exist or access is denied; otherwise `unavailable`.
        """
        if not await self.exists(image):
            await self.pull(image, report)

    async def pull(self, image: str, report: Report) -> ImageInfo:
        """Pull an image, or a newer version of an existing image. See `ensure` for arguments and errors."""
        report(Progress(phase="pulling", message=image, done=0.0))
        layers: dict[str, float] = {}
        async with self._engine.client() as client:
            try:
                async for status in client.images.pull(image, stream=True, timeout=PULL_TIMEOUT):
                    _note(layers, status)
                    done = sum(layers.values()) / len(layers) if layers else 0.0
                    report(Progress(phase="pulling", message=f"{image}: {status.get('status', '')}", done=done))
            except aiodocker.DockerError as error:
                if error.status in (0, NOT_FOUND):  # status 0 means that the registry reported an error in the stream
                    message = f"cannot pull image {image}: {error.message}"
                    raise HawseError("invalid_params", message, details={"path": "$.image"}) from error
                raise
        return _info(await self.inspect(image))


def _note(layers: dict[str, float], status: dict[str, Any]) -> None:
    """Record a layer's progress, from 0 to 1. Downloading and unpacking each count for half."""
    layer, text = status.get("id"), status.get("status")
    if layer is None or text is None:
        return
    detail = status.get("progressDetail") or {}
    part = detail.get("current", 0) / detail["total"] if detail.get("total") else 0.0
    if text == "Pulling fs layer":
        layers[layer] = 0.0
    elif text == "Downloading":
        layers[layer] = part / 2
    elif text == "Extracting":
        layers[layer] = 0.5 + part / 2
    elif text in ("Pull complete", "Already exists"):
        layers[layer] = 1.0


def _names(image: Mapping[str, Any]) -> list[str]:
    return [name for name in image.get("RepoTags") or [] if name != "<none>:<none>"]


def _info(image: Mapping[str, Any], created: float | None = None) -> ImageInfo:
    return ImageInfo(id=image["Id"], names=_names(image), size=image.get("Size", 0), created=created)


@contextmanager
def _refused(status: int, code: str, message: str) -> Iterator[None]:
    """Raise `HawseError` with `code` if the engine responds with `status`."""
    try:
        yield
    except aiodocker.DockerError as error:
        if error.status != status:
            raise
        raise HawseError(code, f"{message}: {error.message}") from error
