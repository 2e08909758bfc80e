"""Sandboxes that are started in advance: they are filled, taken once, hidden, and given up for others."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import pytest

from hawse.api.sandboxes import SandboxCreate
from hawse.wire import HawseError
from hawse_gateway.sandboxes.admission import Admission, Capacity, Room
from hawse_gateway.sandboxes.driver import Driver
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.sandboxes.overview.index import SandboxIndex
from hawse_gateway.sandboxes.pool import Pool
from hawse_gateway.sandboxes.templates import Template, Templates
from hawse_gateway.store.clock import Clock
from hawse_gateway.store.sqlite import SqliteStore
from tests.support.clock import ManualClock
from tests.support.providers import ModelProvider
from tests.support.sandboxes import create


@asynccontextmanager
async def begin(
    folder: Path,
    provider: ModelProvider,
    pool: int,
    most: int | None = None,
    templates: dict[str, Template] | None = None,
) -> AsyncIterator[Sandboxes]:
    room = Room(memory=1 << 40, disk=1 << 40)
    admission = Admission(Capacity(sandboxes=most), folder, measure=lambda path: room)
    store = SqliteStore(folder / "store.db")
    clock = ManualClock().clock
    sandboxes = Sandboxes(
        store,
        {"model": provider},
        clock=clock,
        sweep=3600,
        pool=pool,
        admission=admission,
        templates=Templates(templates or {}),
    )
    async with sandboxes.running():
        await sandboxes.sweep()
        yield sandboxes


async def ids(sandboxes: Sandboxes) -> list[str]:
    return [info.id for info in await sandboxes.list()]


async def test_a_creation_takes_a_member_without_a_start_and_the_pool_is_filled_again(
    tmp_path: Path, provider: ModelProvider
) -> None:
    async with begin(tmp_path, provider, 2) as sandboxes:
        assert len(provider.running) == 2
        assert await ids(sandboxes) == ["local"], "no client sees the members"
        info = await create(sandboxes, SandboxCreate(id="a", env={"A": "1"}, labels={"x": "1"}, timeout=50.0))
        assert (info.state, info.labels) == ("running", {"x": "1"})
        assert provider.count("start") == 2
        configuration = await sandboxes.configuration("a")
        assert configuration is not None
        assert configuration.env == {"A": "1"}
        endpoint = await sandboxes.ensure("a")
        assert endpoint is not None
        assert [info.runtime] in provider.running.values()
        await sandboxes.sweep()
        assert provider.count("start") == 3
        await sandboxes.delete("a")
        await sandboxes.sweep()
        assert len(provider.running) == 2
    assert provider.violations == []


async def test_claims_and_ready_members_are_counted(tmp_path: Path, provider: ModelProvider) -> None:
    async with begin(tmp_path, provider, 2) as sandboxes:
        await create(sandboxes, SandboxCreate(id="a"))
        await create(sandboxes, SandboxCreate(id="b", image="other"))
        await sandboxes.sweep()  # fills the pool again
        await sandboxes.sweep()
        await sandboxes.index.current(runs=True)
        pool = sandboxes.pool
        assert (pool.size, pool.ready, pool.claimed, pool.missed) == (2, 2, 1, 1)


async def test_a_gateway_that_does_not_supervise_counts_the_ready_members_too(
    tmp_path: Path, provider: ModelProvider
) -> None:
    async with begin(tmp_path, provider, 2) as first, SandboxIndex(first.store).running() as index:
        second = Pool(first.store, index, cast(Driver, None), [], provider="model", clock=Clock())
        await index.current(runs=True)
        assert second.ready == 2


async def test_concurrent_creations_never_get_the_same_member(tmp_path: Path, provider: ModelProvider) -> None:
    async with begin(tmp_path, provider, 3) as sandboxes:
        infos = await asyncio.gather(*(create(sandboxes, SandboxCreate(id=f"a{i % 5}")) for i in range(10)))
        assert len({info.runtime for info in infos}) == len({info.id for info in infos}) == 5
        await sandboxes.sweep()
    assert provider.violations == []


@pytest.mark.parametrize("params", [SandboxCreate(image="other"), SandboxCreate(network="host")])
async def test_a_sandbox_that_differs_is_started_by_itself(
    tmp_path: Path, provider: ModelProvider, params: SandboxCreate
) -> None:
    async with begin(tmp_path, provider, 1) as sandboxes:
        await create(sandboxes, params)
        assert provider.count("start") == 2


async def test_a_member_cannot_be_used_by_its_name_and_its_unit_is_not_given_to_another(
    tmp_path: Path, provider: ModelProvider
) -> None:
    async with begin(tmp_path, provider, 1) as sandboxes:
        (member,) = provider.running
        for call in (sandboxes.ensure(member), sandboxes.get(member), sandboxes.delete(member)):
            with pytest.raises(HawseError, match="not_found"):
                await call
        await create(sandboxes, SandboxCreate(id="a"))
        await create(sandboxes, SandboxCreate(id=member))  # takes the next member, or starts a unit of another name
        assert len(provider.running[member]) == 1
        runtimes = [info.runtime for info in await sandboxes.list() if info.runtime is not None]
        assert len(runtimes) == len(set(runtimes)) == 2
    assert provider.violations == []


async def test_members_of_an_earlier_gateway_are_used_or_deleted(tmp_path: Path, provider: ModelProvider) -> None:
    async with begin(tmp_path, provider, 2):
        pass
    async with begin(tmp_path, provider, 1):
        assert len(provider.running) == 1
        assert provider.count("start") == 2
    async with begin(tmp_path, provider, 0):
        assert provider.units == {}


async def test_members_are_given_up_when_a_sandbox_needs_their_room(tmp_path: Path, provider: ModelProvider) -> None:
    async with begin(tmp_path, provider, 2, most=2) as sandboxes:
        await create(sandboxes, SandboxCreate(id="a", image="other"))
        await create(sandboxes, SandboxCreate(id="b", image="other"))
        with pytest.raises(HawseError, match="capacity_exceeded"):
            await create(sandboxes, SandboxCreate(id="c", image="other"))
        assert len(provider.running) == 2
    assert provider.violations == []


async def test_a_member_that_fails_is_replaced_at_a_later_sweep(tmp_path: Path, provider: ModelProvider) -> None:
    provider.errors["start"] = HawseError("unavailable", "no disk")
    async with begin(tmp_path, provider, 1) as sandboxes:
        assert provider.running == {}
        del provider.errors["start"]
        await sandboxes.sweep()
        await sandboxes.sweep()
        assert len(provider.running) == 1
        assert set(provider.units) == set(provider.running)


TEMPLATES = {
    "image": Template(image="x", env={"A": "1"}, files={"f": "text"}, pool=2),
    "command": Template(image="x", image_command=True, env={"A": "1"}, pool=1),
}


async def test_each_template_has_a_pool_of_its_own(tmp_path: Path, provider: ModelProvider) -> None:
    async with begin(tmp_path, provider, 1, templates=TEMPLATES) as sandboxes:
        waiting = dict(provider.running)
        specs = [(spec.image, spec.image_command) for spec in provider.specs.values()]
        assert sorted(specs, key=str) == [("x", False), ("x", False), ("x", True), (None, False)]
        info = await create(sandboxes, SandboxCreate(id="a", template="image", env={"B": "2"}))
        assert [info.runtime] in waiting.values()
        assert (info.image, info.template) == ("x", "image")
        configuration = await sandboxes.configuration("a")
        assert configuration is not None
        assert configuration.env == {"A": "1", "B": "2"}
        assert configuration.files == {"f": "text"}
        await sandboxes.sweep()
        assert len(provider.running) == 5, "the pool is full again"
    assert provider.violations == []


async def test_a_command_that_runs_already_is_used_only_with_the_variables_that_it_was_started_with(
    tmp_path: Path, provider: ModelProvider
) -> None:
    async with begin(tmp_path, provider, 0, templates={"command": TEMPLATES["command"]}) as sandboxes:
        (waiting,) = provider.running.values()
        other = await create(sandboxes, SandboxCreate(template="command", env={"B": "2"}))
        same = await create(sandboxes, SandboxCreate(template="command"))
        assert (other.runtime in waiting, same.runtime in waiting) == (False, True)


async def test_members_of_a_template_that_was_changed_are_replaced(tmp_path: Path, provider: ModelProvider) -> None:
    async with begin(tmp_path, provider, 0, templates=TEMPLATES):
        assert len(provider.running) == 3
    async with begin(tmp_path, provider, 0, templates={"image": Template(image="y", pool=1)}):
        assert [provider.specs[unit].image for unit in provider.running] == ["y"]


async def test_a_template_that_fails_does_not_keep_the_pools_of_others_empty(
    tmp_path: Path, provider: ModelProvider
) -> None:
    provider.refused_images.add("bad")
    async with begin(tmp_path, provider, 1, templates={"bad": Template(image="bad", pool=1)}):
        assert [provider.specs[unit].image for unit in provider.running] == [None]


async def test_a_repeated_creation_is_the_same_after_its_template_was_changed(
    tmp_path: Path, provider: ModelProvider
) -> None:
    params = SandboxCreate(id="a", template="t")
    async with begin(tmp_path, provider, 0, templates={"t": Template(env={"A": "1"})}) as sandboxes:
        first = await create(sandboxes, params)
    async with begin(tmp_path, provider, 0, templates={"t": Template(env={"A": "2"})}) as sandboxes:
        assert (await create(sandboxes, params)).runtime == first.runtime
