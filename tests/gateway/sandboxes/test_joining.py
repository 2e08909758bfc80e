from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hawse.api.sandboxes import SandboxCreate, SandboxUpdate
from hawse.wire import HawseError
from hawse_gateway.providers.joined.provider import GRACE, JOINED, JoinedProvider
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.sandboxes.records import read
from hawse_gateway.store.sqlite import SqliteStore
from tests.support.joining import RUNTIME, machine
from tests.support.providers import ModelProvider
from tests.support.sandboxes import create


class Time:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def joined(time: Time) -> JoinedProvider:
    return JoinedProvider(time)


@pytest.fixture
async def sandboxes(tmp_path: Path, joined: JoinedProvider) -> AsyncIterator[Sandboxes]:
    store = SqliteStore(tmp_path / "store.db")
    sandboxes = Sandboxes(store, {"model": ModelProvider(), JOINED: joined}, sweep=3600)
    async with sandboxes.running():
        await create(sandboxes, SandboxCreate(id="unit", provider=JOINED))
        yield sandboxes


async def test_a_new_sandbox_waits_for_its_machine(sandboxes: Sandboxes) -> None:
    info = await sandboxes.get("unit")
    assert (info.state, info.idle_timeout, info.isolation) == ("sleeping", None, "none")
    assert info.reason is not None
    assert "hawse join" in info.reason
    with pytest.raises(HawseError, match="unavailable"):
        await sandboxes.ensure("unit")
    assert (await sandboxes.get("unit")).state == "sleeping"
    assert await create(sandboxes, SandboxCreate(id="unit", provider=JOINED)) == await sandboxes.get("unit")


async def test_a_call_that_cannot_start_it_changes_no_row(
    sandboxes: Sandboxes, joined: JoinedProvider, time: Time
) -> None:
    time.now += GRACE
    before = await read(sandboxes.store, "unit")
    with pytest.raises(HawseError, match="unavailable: the machine of sandbox 'unit' is not connected"):
        await sandboxes.ensure("unit")
    assert await sandboxes.ensure("unit", start=False) is None
    assert await read(sandboxes.store, "unit") == before


async def test_a_start_lets_machines_join_what_was_stopped(sandboxes: Sandboxes, joined: JoinedProvider) -> None:
    await sandboxes.stop("unit")
    info = await sandboxes.joining.let_join("unit")
    assert info is not None
    assert info.state == "sleeping"
    assert await sandboxes.joining.unit("unit") == "unit"
    joined.machines.add(machine())
    await sandboxes.joining.begin("unit")
    assert await sandboxes.joining.let_join("unit") is None
    assert await sandboxes.joining.let_join("local") is None


async def test_it_runs_with_the_runtime_of_the_machine(sandboxes: Sandboxes, joined: JoinedProvider) -> None:
    joined.machines.add(machine())
    info = await sandboxes.joining.begin("unit")
    assert (info.state, info.runtime) == ("running", RUNTIME)
    endpoint = await sandboxes.ensure("unit")
    assert endpoint is not None
    assert str(endpoint.address) == "machine:unit"


async def test_another_runtime_takes_the_place_of_one_that_was_lost(
    sandboxes: Sandboxes, joined: JoinedProvider
) -> None:
    first = machine()
    joined.machines.add(first)
    await sandboxes.joining.begin("unit")
    joined.machines.remove(first)
    joined.disconnected("unit")
    second = machine(runtime="f" * 16, running=False)
    joined.machines.add(second)
    info = await sandboxes.joining.begin("unit")
    assert (info.state, info.runtime) == ("running", "f" * 16)
    assert not second.ended.is_set()


async def test_a_machine_that_has_left_lets_it_sleep(sandboxes: Sandboxes, joined: JoinedProvider) -> None:
    one = machine()
    joined.machines.add(one)
    await sandboxes.joining.begin("unit")
    joined.machines.remove(one)
    await sandboxes.joining.leave("unit", "f" * 16, "another machine")
    assert (await sandboxes.get("unit")).state == "running"
    await sandboxes.joining.leave("unit", RUNTIME, "bye")
    await sandboxes.sweep()
    info = await sandboxes.get("unit")
    assert (info.state, info.reason) == ("sleeping", "bye")


async def test_a_machine_that_stays_away_lets_it_sleep(
    sandboxes: Sandboxes, joined: JoinedProvider, time: Time
) -> None:
    one = machine()
    joined.machines.add(one)
    await sandboxes.joining.begin("unit")
    joined.machines.remove(one)
    joined.disconnected("unit")
    await sandboxes.sweep()
    assert (await sandboxes.get("unit")).state == "running"
    time.now += GRACE
    await sandboxes.sweep()
    info = await sandboxes.get("unit")
    assert (info.state, info.reason) == ("sleeping", "the machine is not connected")


async def test_a_stopped_or_deleted_sandbox_cannot_be_joined(sandboxes: Sandboxes) -> None:
    assert await sandboxes.joining.unit("unit") == "unit"
    await sandboxes.stop("unit")
    assert await sandboxes.joining.why("unit") == "the sandbox was stopped"
    with pytest.raises(HawseError, match="stopped"):
        await sandboxes.joining.unit("unit")
    await sandboxes.delete("unit")
    assert await sandboxes.joining.why("unit") == "the sandbox was deleted"
    with pytest.raises(HawseError, match="not_found"):
        await sandboxes.joining.begin("unit")


async def test_only_sandboxes_of_the_provider_can_be_joined(sandboxes: Sandboxes) -> None:
    with pytest.raises(HawseError, match="conflict: sandbox 'local' has the provider model"):
        await sandboxes.joining.unit("local")


async def test_it_takes_no_settings_that_a_machine_cannot_have(sandboxes: Sandboxes) -> None:
    for params in (
        SandboxCreate(provider=JOINED, idle_timeout=5),
        SandboxCreate(provider=JOINED, snapshot="b"),
        SandboxCreate(provider=JOINED, image="i"),
    ):
        with pytest.raises(HawseError, match="invalid_params"):
            await create(sandboxes, params)
    with pytest.raises(HawseError, match="cannot sleep"):
        await sandboxes.update(SandboxUpdate(id="unit", idle_timeout=5))
    assert (await sandboxes.update(SandboxUpdate(id="unit", labels={"a": "b"}))).labels == {"a": "b"}
