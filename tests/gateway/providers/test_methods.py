"""`image.*` with a provider whose images are in memory."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

import msgspec
import pytest
import pytest_asyncio

from hawse.api import GATEWAY
from hawse.api.images import ImageInfo, ImageList, ImagePull, ImageRemove
from hawse.rpc import Dispatcher, IdempotencyTable
from hawse.rpc.call import ServerCall
from hawse.wire import Connection, HawseError
from hawse_gateway.providers.base import Progress, Report
from hawse_gateway.providers.methods import PULLS, ImageMethods
from tests.support.providers import ModelProvider


class ModelImages:
    """Images by name. `go` lets pulls end; `ended` is set when one was cancelled."""

    def __init__(self) -> None:
        self.names = ["old"]
        self.go = asyncio.Event()
        self.reported = asyncio.Event()
        self.cancelled = asyncio.Event()

    async def list(self) -> list[ImageInfo]:
        return [ImageInfo(id=name, names=[name]) for name in self.names]

    async def pull(self, image: str, report: Report) -> ImageInfo:
        report(Progress(phase="pulling", message="a layer", done=0.25))
        report(Progress(phase="pulling", message="a layer", done=0.5))
        self.reported.set()
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        if image == "missing":
            raise HawseError("invalid_params", "no such image")
        self.names.append(image)
        return ImageInfo(id=image, names=[image])

    async def remove(self, image: str) -> None:
        self.names.remove(image)


class PullCall:
    """A call, its connection and its client in one."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.credit = 1000
        self.key: str | None = None
        self.age: float | None = None
        self.outcome: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.stream: Any = None

    def serve(self, stream: Any) -> None:
        self.stream = stream

    def wake(self) -> None:
        self.stream.pull(cast(Connection, self), 1, 65_536)

    def window(self, ch: int) -> int:
        return self.credit

    def send_event(self, ch: int, name: str, value: Any) -> None:
        self.events.append({name: msgspec.to_builtins(value)})

    def result(self, value: Any) -> None:
        self.outcome.set_result(value)
        self.stream.detach()

    def error(self, error: HawseError) -> None:
        self.outcome.set_exception(error)
        self.stream.detach()


@pytest_asyncio.fixture
async def images() -> ModelImages:
    return ModelImages()


@pytest_asyncio.fixture
async def methods(images: ModelImages) -> AsyncIterator[ImageMethods]:
    provider = ModelProvider()
    same = ModelProvider()
    provider.images = same.images = images
    providers = {"model": provider, "same": same, "plain": ModelProvider()}
    async with asyncio.TaskGroup() as tasks:
        yield ImageMethods(providers, tasks)


def begin(methods: ImageMethods, image: str, call: PullCall | None = None) -> PullCall:
    call = call or PullCall()
    methods.pull(cast(ServerCall, call), ImagePull(image=image))
    return call


async def test_every_method_about_images_has_a_handler(methods: ImageMethods) -> None:
    dispatcher = Dispatcher(asyncio.ensure_future, IdempotencyTable())
    dispatcher.add(methods)
    assert set(dispatcher.methods) == {name for name in GATEWAY if name.startswith("image.")}


async def test_images_are_pulled_listed_and_removed(methods: ImageMethods, images: ModelImages) -> None:
    images.go.set()
    call = begin(methods, "new")
    assert (await call.outcome).names == ["new"]
    assert [each.id for each in (await methods.list_(ImageList())).images] == ["old", "new"]
    await methods.remove(ImageRemove(image="old"))
    assert images.names == ["new"]


async def test_progress_is_sent_and_what_comes_without_credit_is_sent_as_one(
    methods: ImageMethods, images: ModelImages
) -> None:
    call = begin(methods, "new")
    await images.reported.wait()
    assert [event["progress"]["progress"] for event in call.events] == [0.25, 0.5]
    slow = PullCall()
    slow.credit = 0
    images.reported.clear()
    begin(methods, "newer", slow)
    await images.reported.wait()
    slow.credit = 1000
    slow.wake()
    assert slow.events == [{"progress": {"message": "a layer", "progress": 0.5}}]
    images.go.set()
    await asyncio.gather(call.outcome, slow.outcome)


async def test_a_pull_that_fails_ends_with_its_error(methods: ImageMethods, images: ModelImages) -> None:
    images.go.set()
    with pytest.raises(HawseError, match="no such image"):
        await begin(methods, "missing").outcome


async def test_a_pull_ends_with_its_call_and_their_number_is_limited(
    methods: ImageMethods, images: ModelImages
) -> None:
    calls = [begin(methods, f"n{i}") for i in range(PULLS)]
    await images.reported.wait()
    with pytest.raises(HawseError, match="capacity_exceeded"):
        begin(methods, "one more")
    for call in calls:
        call.stream.detach()
    await images.cancelled.wait()
    images.go.set()
    assert (await begin(methods, "one more").outcome).id == "one more"


async def test_a_repeat_joins_the_pull_that_runs_and_counts_once(methods: ImageMethods, images: ModelImages) -> None:
    """The gateway may not have noticed yet that the connection of the first call was lost."""
    lost = [begin(methods, f"n{i}") for i in range(PULLS)]
    repeats = [begin(methods, f"n{i}") for i in range(PULLS)]
    await images.reported.wait()
    for call in lost:
        call.stream.detach()
    images.go.set()
    assert [(await call.outcome).id for call in repeats] == [f"n{i}" for i in range(PULLS)]
    assert repeats[0].events[-1]["progress"]["progress"] == 0.5
    assert images.names == ["old", *(f"n{i}" for i in range(PULLS))], "each was pulled once"
    assert not images.cancelled.is_set()


async def test_providers_with_the_same_images_share_a_pull(methods: ImageMethods, images: ModelImages) -> None:
    calls = [PullCall() for _ in range(3)]
    for call, provider in zip(calls, (None, "model", "same"), strict=True):
        methods.pull(cast(ServerCall, call), ImagePull(image="new", provider=provider))
    images.go.set()
    assert [(await call.outcome).id for call in calls] == ["new"] * 3
    assert images.names == ["old", "new"]


async def test_a_repeat_of_a_pull_that_has_ended_pulls_again_whatever_its_key_and_age(
    methods: ImageMethods, images: ModelImages
) -> None:
    """A pull that is done twice does no harm: it is never `outcome_unknown`."""
    images.go.set()
    assert (await begin(methods, "new").outcome).id == "new"
    repeat = PullCall()
    repeat.key, repeat.age = "k", 3600.0
    assert (await begin(methods, "new", repeat).outcome).id == "new"


@pytest.mark.parametrize("provider", ["plain", "unknown"])
async def test_a_provider_without_images_is_a_wrong_parameter(methods: ImageMethods, provider: str) -> None:
    with pytest.raises(HawseError) as caught:
        await methods.list_(ImageList(provider=provider))
    assert (caught.value.code, caught.value.details) == ("invalid_params", {"path": "$.provider"})
