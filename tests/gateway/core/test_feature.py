from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from hawse_gateway.core.feature import Composition, Feature, compose
from tests.support.waiting import Changes


class Recorder:
    """Builds features whose starts and stops it records."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def feature(self, name: str, *, fails: bool = False) -> Feature:
        @asynccontextmanager
        async def running() -> AsyncIterator[None]:
            if fails:
                raise OSError(f"{name} cannot start")
            self.events.append(f"start {name}")
            try:
                yield
            finally:
                self.events.append(f"stop {name}")

        return Feature(name, lambda gateway: gateway.running.append(running()))


async def test_features_start_in_order_and_stop_in_reverse_order() -> None:
    recorder = Recorder()
    async with compose([recorder.feature("a"), recorder.feature("b")], {}).started():
        assert recorder.events == ["start a", "start b"]
    assert recorder.events == ["start a", "start b", "stop b", "stop a"]


async def test_a_feature_that_cannot_start_stops_the_earlier_ones() -> None:
    recorder = Recorder()
    features = [recorder.feature("a"), recorder.feature("b"), recorder.feature("c", fails=True), recorder.feature("d")]
    with pytest.raises(OSError, match="c cannot start"):
        async with compose(features, {}).started():
            pytest.fail("it has started")
    assert recorder.events == ["start a", "start b", "stop b", "stop a"]


def test_a_feature_uses_parts_of_earlier_features() -> None:
    def needs(gateway: Composition) -> None:
        gateway.methods.append(gateway.part(Changes))

    provides = Feature("provides", lambda gateway: print(gateway.add(Changes())))
    composition = compose([provides, Feature("needs", needs)], {})
    assert composition.methods == [composition.find(Changes)]
    with pytest.raises(LookupError, match="feature needs: no feature before this one has added Changes"):
        compose([Feature("needs", needs), provides], {})


def test_a_part_that_is_given_is_not_built() -> None:
    def build() -> Changes:
        pytest.fail("it is given")

    given = Changes()
    composition = compose([Feature("changes", lambda gateway: print(gateway.ensure(Changes, build)))], {Changes: given})
    assert composition.part(Changes) is given
    assert compose([], {}).find(Changes) is None


async def test_background_work_is_cancelled_and_awaited_at_the_end() -> None:
    changes, events = Changes(), list[str]()

    async def work() -> None:
        events.append("started")
        changes.notify()
        try:
            await changes.until(lambda: False)
        finally:
            events.append("ended")

    composition = compose([Feature("work", lambda gateway: gateway.run(work, "work"))], {})
    async with composition.started():
        await changes.until(lambda: events)
    assert events == ["started", "ended"]


async def test_work_for_the_end_runs_when_the_gateway_stops_even_with_an_error() -> None:
    events = list[str]()

    async def close() -> None:
        events.append("closed")

    composition = compose([Feature("work", lambda gateway: gateway.at_end(close))], {})
    with pytest.raises(OSError, match="the gateway fails"):
        async with composition.started():
            assert events == []
            raise OSError("the gateway fails")
    assert events == ["closed"]
