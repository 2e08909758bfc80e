"""The handlers of `image.*`."""

import asyncio
from typing import Final

from hawse.api.sandboxes import (
    ImageInfo,
    ImageList,
    ImageListResult,
    ImageProgress,
    ImageProvider,
    ImagePull,
    ImageRemove,
)
from hawse.api.spec import Nothing
from hawse.rpc import handles, serves
from hawse.rpc.call import ServerCall
from hawse.rpc.errors import typed
from hawse.rpc.output_stream import OutputOnlyStream
from hawse.wire import Connection, HawseError
from hawse_gateway.providers.base import ImageStore, Progress
from hawse_gateway.sandboxes.lifecycle import Sandboxes

PULLS: Final = 4  # at once: each uses the network, the disk, and a connection to the provider
RETRY_AFTER: Final = 10.0  # s


class ImageMethods:
    """The methods. A pull ends with its call.

    Args:
        sandboxes: Knows the providers.
        tasks: The parent of the pulls.
    """

    def __init__(self, sandboxes: Sandboxes, tasks: asyncio.TaskGroup) -> None:
        self._sandboxes = sandboxes
        self._tasks = tasks
        self._pulls: set[ImagePullStream] = set()

    @handles(ImageList)
    async def list_(self, params: ImageList) -> ImageListResult:
        return ImageListResult(images=await self._store(params).list())

    @serves(ImagePull)
    def pull(self, call: ServerCall, params: ImagePull) -> None:
        store = self._store(params)
        if len(self._pulls) >= PULLS:
            message = f"{PULLS} images are being pulled already"
            raise HawseError("capacity_exceeded", message, details={"retry_after": RETRY_AFTER})
        stream = ImagePullStream(call, self._pulls)
        call.serve(stream)
        stream.task = self._tasks.create_task(stream.run(store, params.image), name=f"pull {params.image}")

    @handles(ImageRemove)
    async def remove(self, params: ImageRemove) -> Nothing:
        await self._store(params).remove(params.image)
        return Nothing()

    def _store(self, params: ImageProvider) -> ImageStore:
        name = params.provider or self._sandboxes.default
        provider = self._sandboxes.providers.get(name)
        if provider is None:
            raise _invalid(f"this gateway has no provider {name!r}")
        if provider.images is None:
            raise _invalid(f"provider {name} has no images")
        return provider.images


class ImagePullStream(OutputOnlyStream):
    """Serves one `image.pull`: the latest progress when there is credit, and then the result."""

    def __init__(self, call: ServerCall, pulls: "set[ImagePullStream]") -> None:
        super().__init__(call)
        pulls.add(self)
        self.task: asyncio.Task[None] | None = None
        self._pulls = pulls
        self._latest: ImageProgress | None = None  # not sent yet
        self._outcome: ImageInfo | HawseError | None = None

    async def run(self, store: ImageStore, image: str) -> None:
        """Pull the image."""
        try:
            self._outcome = await store.pull(image, self._report)
        except Exception as error:
            self._outcome = typed(error)
        self.wake()

    def _report(self, progress: Progress) -> None:
        self._latest = ImageProgress(message=progress.message, progress=progress.done)
        self.wake()

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        if self._latest is not None and connection.window(ch) > 0:
            latest, self._latest = self._latest, None
            connection.send_event(ch, "progress", latest)
        if isinstance(self._outcome, HawseError):
            self._call.error(self._outcome)
        elif self._outcome is not None:
            self._call.result(self._outcome)
        return False

    def detach(self) -> None:
        self._pulls.discard(self)
        if self.task is not None:
            self.task.cancel()


def _invalid(message: str) -> HawseError:
    return HawseError("invalid_params", message, details={"path": "$.provider"})
