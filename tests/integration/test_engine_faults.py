"""The Docker Engine is killed or suspended while sandboxes start, run and stop. Afterwards, rows and reality agree."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
import pytest_asyncio

import hawse
from hawse.api.sandboxes import Network
from hawse.client import Client
from hawse.wire import HawseError
from hawse_gateway.providers.docker.provider import GATEWAY_ID
from hawse_gateway.providers.runtime_process import RuntimeProcess
from hawse_gateway.providers.state_directory import StateDirectory
from tests.support import docker
from tests.support.bundle import BUNDLES, ensure_tests_bundle
from tests.support.engine import EngineProcess, engine_process, needs_dockerd
from tests.support.lifecycle import until_gone, until_state
from tests.support.stack import Stack

pytestmark = [
    needs_dockerd,
    pytest.mark.asyncio(loop_scope="module"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine() -> AsyncIterator[EngineProcess]:
    async with engine_process() as engine:
        docker.make_images(engine.address)
        yield engine


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stack(engine: EngineProcess, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    ensure_tests_bundle()
    state = StateDirectory(tmp_path_factory.mktemp("engine") / "s")
    (state.root / "bundles").symlink_to(BUNDLES)
    under = ["env", f"DOCKER_HOST={engine.address}"]
    async with Stack(state.root, "--provider", "docker", "--image", docker.BUSYBOX, under=under) as stack:
        yield stack


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hw(stack: Stack) -> AsyncIterator[Client]:
    async with hawse.connect(stack.base, token=stack.token) as client:
        yield client


async def create(hw: Client, id: str, network: Network | None = None) -> str:
    await hw.sandboxes.create(id, network=network)
    return id


async def delete_all(hw: Client, stack: Stack, engine: EngineProcess) -> None:
    """Delete all sandboxes, and check that nothing is left of them."""
    for info in await hw.sandboxes.list():
        with suppress(hawse.CleanupPendingError):  # the deletion continues
            await hw.sandbox(info.id).delete()
        await until_gone(hw, info.id)
    gateway = StateDirectory(stack.state).identity(GATEWAY_ID)
    assert docker.left(gateway, engine.address) == []
    assert not list((stack.state / "sandboxes").glob("*"))


async def test_an_engine_that_is_suspended_delays_what_begins_meanwhile(
    hw: Client, stack: Stack, engine: EngineProcess
) -> None:
    running, stopping = hw.sandbox(await create(hw, "running")), hw.sandbox(await create(hw, "stopping"))
    assert (await running.exec(["/bin/id", "-un"])).stdout == b"user\n"
    await engine.suspend()
    try:
        starts = asyncio.ensure_future(create(hw, "starting"))
        stops = asyncio.ensure_future(stopping.stop())
        await until_state(hw, "starting", "starting")
        await until_state(hw, "stopping", "stopping")
        assert (await running.exec(["/bin/id", "-un"])).stdout == b"user\n", "its runtime is not suspended"
        assert not starts.done()
        assert not stops.done()
    finally:
        engine.resume()
    await starts
    await stops
    states = {info.id: info.state for info in await hw.sandboxes.list() if info.id != "local"}
    assert states == {"running": "running", "starting": "running", "stopping": "stopped"}
    assert (await hw.sandbox("starting").exec(["/bin/id", "-un"])).stdout == b"user\n"
    await delete_all(hw, stack, engine)


async def test_after_an_engine_was_killed_nothing_is_left_of_what_began_and_what_ran_is_started_again(
    hw: Client, stack: Stack, engine: EngineProcess
) -> None:
    running, stopping = hw.sandbox(await create(hw, "running", "filtered")), hw.sandbox(await create(hw, "stopping"))
    await running.files.write("kept", b"1")
    before = (await running.info()).runtime
    record = stack.state / "sandboxes" / "running" / "egress" / "process"
    proxy = RuntimeProcess.load(record)
    await stopping.exec(["/bin/true"])
    await engine.suspend()  # so that requests are in progress when it is killed
    starts = asyncio.ensure_future(create(hw, "starting"))
    stops = asyncio.ensure_future(stopping.delete())
    await until_state(hw, "starting", "starting")
    await until_state(hw, "stopping", "deleting")
    await engine.kill()
    for task in (starts, stops):
        with pytest.raises(HawseError) as caught:
            await task
        assert caught.value.code in ("unavailable", "cleanup_pending")
    await engine.start()
    await until_gone(hw, "starting")
    await until_gone(hw, "stopping")
    assert (await running.exec(["/bin/cat", "kept"])).stdout == b"1"
    assert (await running.info()).runtime != before
    assert proxy is not None
    assert not proxy.alive, "it has ended with the container"
    fetched = await running.exec(["/bin/wget", "-q", "-O", "-", "http://example.test/"])
    assert b"403" in fetched.stderr, "the proxy of the new container answers"
    next_proxy = RuntimeProcess.load(record)
    await delete_all(hw, stack, engine)
    assert next_proxy is not None
    assert not next_proxy.alive
