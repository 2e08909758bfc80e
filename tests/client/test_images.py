"""Listing, pulling and removing images."""

from typing import Any, cast

from hawse.api.images import ImageInfo, ImageList, ImageListResult, ImageProgress, ImagePull, ImageRemove
from hawse.client.calls.call_table import CallTable
from hawse.client.images import ImagePullCall, Images
from hawse.wire import Event
from hawse.wire.messages import to_raw

INFO = ImageInfo(id="1", names=["x:latest"], size=5)


class Recorded:
    """A call table that notes requests, and performs a pull that reports once."""

    def __init__(self) -> None:
        self.requests: list[Any] = []

    async def request(self, params: Any, *, sandbox: str | None) -> Any:
        assert sandbox is None
        self.requests.append(params)
        return ImageListResult(images=[INFO])

    async def perform(self, call: ImagePullCall) -> Any:
        assert call.repeats, "it continues after a lost connection"
        self.requests.append(call.params())
        call.receive_event(Event(ch=1, name="progress", value=to_raw(ImageProgress(message="m", progress=0.5))))
        call.receive_event(Event(ch=1, name="a later event", value=to_raw({})))
        return call.finished(to_raw(INFO))


async def test_images_are_listed_pulled_and_removed() -> None:
    recorded = Recorded()
    images = Images(cast(CallTable, recorded))
    reports: list[ImageProgress] = []
    assert await images.list() == [INFO]
    assert await images.pull("x", provider="docker", on_progress=reports.append) == INFO
    assert await images.pull("y") == INFO
    await images.remove("x")
    assert reports == [ImageProgress(message="m", progress=0.5)]
    assert recorded.requests == [
        ImageList(),
        ImagePull(image="x", provider="docker"),
        ImagePull(image="y"),
        ImageRemove(image="x"),
    ]
