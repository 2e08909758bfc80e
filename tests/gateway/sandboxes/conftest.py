"""Sandboxes over a real store and a model of a provider."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.sandboxes.run_checks import RuntimeCalls
from hawse_gateway.store.sqlite import SqliteStore
from tests.support.clock import ManualClock
from tests.support.providers import Begin, ModelProvider


@pytest.fixture
def provider() -> ModelProvider:
    return ModelProvider()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def begin(tmp_path: Path, provider: ModelProvider, clock: ManualClock) -> Begin:
    """Begin a gateway's sandboxes, again and again on the same store and provider."""

    @asynccontextmanager
    async def running(calls: RuntimeCalls | None = None) -> AsyncIterator[Sandboxes]:
        store = SqliteStore(tmp_path / "store.db")
        sandboxes = Sandboxes(store, {"model": provider}, clock=clock.clock, sweep=3600)
        async with sandboxes.running(calls):
            yield sandboxes

    return running


@pytest.fixture
async def sandboxes(begin: Begin) -> AsyncIterator[Sandboxes]:
    async with begin() as started:
        yield started
