"""Handlers for `image.*`."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

from hawse.api.images import ImageInfo, ImageList, ImageListResult, ImageProgress, ImageProvider, ImagePull, ImageRemove
from hawse.api.spec import Nothing
from hawse.rpc import handles, serves
from hawse.rpc.call import ServerCall
from hawse.rpc.shared_work import SharedWork, WorkStream
from hawse.wire import HawseError
from hawse_gateway.providers.base import ImageStore, Provider

PULLS: Final = 4  # maximum number of concurrent pulls; each uses network, disk and a connection to the provider
RETRY_AFTER: Final = 10.0  # s


class ImageMethods:
    """Handlers for `image.*`. If a pull of the same image is already running, for example after a reconnect, a call
    waits for that pull.

    Args:
        providers: The providers, keyed by name. The first one is the default.
        tasks: The parent task group for pulls.
    """

    def __init__(self, providers: Mapping[str, Provider], tasks: asyncio.TaskGroup) -> None:
        self._providers = providers
        self._tasks = tasks
        self._pulls: dict[tuple[ImageStore, str], SharedWork[ImageProgress]] = {}  # by image

    @handles(ImageList)
    async def list_(self, params: ImageList) -> ImageListResult:
        return ImageListResult(images=await self._store(params).list())

    @serves(ImagePull)
    def pull(self, call: ServerCall, params: ImagePull) -> None:
        store, image = self._store(params), params.image
        self._pulls = {key: pull for key, pull in self._pulls.items() if pull.joinable}
        pull = self._pulls.get((store, image))
        if pull is None:
            if len(self._pulls) >= PULLS:
                message = f"{PULLS} images are being pulled already"
                raise HawseError("capacity_exceeded", message, details={"retry_after": RETRY_AFTER})

            async def work(report: Callable[[ImageProgress], None]) -> ImageInfo:
                return await store.pull(image, lambda p: report(ImageProgress(message=p.message, progress=p.done)))

            pull = self._pulls[store, image] = SharedWork(self._tasks, work, name=f"pull {image}")
        call.serve(WorkStream(call, pull))

    @handles(ImageRemove)
    async def remove(self, params: ImageRemove) -> Nothing:
        await self._store(params).remove(params.image)
        return Nothing()

    def _store(self, params: ImageProvider) -> ImageStore:
        name = params.provider or next(iter(self._providers))
        provider = self._providers.get(name)
        if provider is None:
            raise _invalid(f"this gateway has no provider {name!r}")
        if provider.images is None:
            raise _invalid(f"provider {name} has no images")
        return provider.images


def _invalid(message: str) -> HawseError:
    return HawseError("invalid_params", message, details={"path": "$.provider"})
