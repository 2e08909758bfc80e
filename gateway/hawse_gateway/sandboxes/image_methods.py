"""The handlers of `image.*`."""

import asyncio
from collections.abc import Callable
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
    """The methods. A call joins the running pull of the same image, for example after a reconnect.

    Args:
        sandboxes: Gives access to the providers.
        tasks: The parent of the pulls.
    """

    def __init__(self, sandboxes: Sandboxes, tasks: asyncio.TaskGroup) -> None:
        self._sandboxes = sandboxes
        self._tasks = tasks
        self._pulls: dict[tuple[str | None, str], _Pull] = {}  # by provider and image

    @handles(ImageList)
    async def list_(self, params: ImageList) -> ImageListResult:
        return ImageListResult(images=await self._store(params).list())

    @serves(ImagePull)
    def pull(self, call: ServerCall, params: ImagePull) -> None:
        store, key = self._store(params), (params.provider, params.image)
        pull = self._pulls.get(key)
        if pull is None:
            if len(self._pulls) >= PULLS:
                message = f"{PULLS} images are being pulled already"
                raise HawseError("capacity_exceeded", message, details={"retry_after": RETRY_AFTER})
            pull = self._pulls[key] = _Pull(lambda: self._pulls.pop(key))
            pull.task = self._tasks.create_task(pull.run(store, params.image), name=f"pull {params.image}")
        call.serve(ImagePullStream(call, pull))

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


class _Pull:
    """The pull of one image, shared by all calls that wait for it. It is cancelled when the last of them leaves."""

    def __init__(self, on_end: Callable[[], object]) -> None:
        """`on_end` is called once, when no more calls can join the pull."""
        self.task: asyncio.Task[None] | None = None
        self.latest: ImageProgress | None = None
        self.outcome: ImageInfo | HawseError | None = None
        self._streams: dict[ImagePullStream, None] = {}
        self._on_end = on_end

    async def run(self, store: ImageStore, image: str) -> None:
        """Pull the image."""
        try:
            self.outcome = await store.pull(image, self._report)
        except Exception as error:
            self.outcome = typed(error)
        if self._streams:
            self._on_end()
        self._wake()

    def add(self, stream: "ImagePullStream") -> None:
        self._streams[stream] = None

    def remove(self, stream: "ImagePullStream") -> None:
        del self._streams[stream]
        if not self._streams and self.outcome is None and self.task is not None:
            self.task.cancel()
            self._on_end()

    def _report(self, progress: Progress) -> None:
        self.latest = ImageProgress(message=progress.message, progress=progress.done)
        self._wake()

    def _wake(self) -> None:
        for stream in list(self._streams):
            stream.wake()


class ImagePullStream(OutputOnlyStream):
    """Serves one `image.pull`: the latest progress whenever there is credit, then the result."""

    def __init__(self, call: ServerCall, pull: _Pull) -> None:
        super().__init__(call)
        self._pull = pull
        self._sent: ImageProgress | None = None
        pull.add(self)

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        latest, outcome = self._pull.latest, self._pull.outcome
        if latest is not None and latest is not self._sent and connection.window(ch) > 0:
            self._sent = latest
            connection.send_event(ch, "progress", latest)
        if isinstance(outcome, HawseError):
            self._call.error(outcome)
        elif outcome is not None:
            self._call.result(outcome)
        return False

    def detach(self) -> None:
        self._pull.remove(self)


def _invalid(message: str) -> HawseError:
    return HawseError("invalid_params", message, details={"path": "$.provider"})
