"""The Docker provider with a real engine and real containers."""

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from aiohttp import web

from gateway.providers.base import Progress, SandboxSpec
from gateway.providers.docker.provider import GATEWAY_ID, DockerProvider
from gateway.providers.state_directory import StateDirectory
from hawse.api.sandboxes import SandboxLimits
from hawse.wire import HawseError
from tests.support import docker
from tests.support.client import eventually

pytestmark = docker.needs_engine

RUNTIME = "0123456789abcdef"
SPEC = SandboxSpec()


def ignore(progress: Progress) -> None:
    """Take no notice of the progress."""


async def started(provider: DockerProvider, unit: str = "box", runtime: str = RUNTIME) -> None:
    await provider.create(unit, SPEC, ignore)
    await provider.start(unit, SPEC, runtime, ignore)


def processes(state: StateDirectory, unit: str = "box") -> list[psutil.Process]:
    """The processes of a unit's container: its init and all below it."""
    init = psutil.Process(docker.container_of(state.identity(GATEWAY_ID), unit)["State"]["Pid"])
    return [init, *init.children(recursive=True)]


def runtime_process(state: StateDirectory) -> psutil.Process:
    return processes(state)[1]


async def test_what_the_engine_enforces_is_reported(provider: DockerProvider) -> None:
    capabilities = await provider.capabilities()
    assert (capabilities.provider, capabilities.isolation, capabilities.images) == ("docker", "docker", True)
    assert capabilities.networks == ("private", "host")
    assert {"memory", "processes"} <= set(capabilities.limits)
    enforced = capabilities.enforced(SandboxSpec(limits=SandboxLimits(processes=9)))
    assert (enforced.network, enforced.separated, enforced.memory_files, enforced.user) == (
        "private",
        True,
        True,
        False,
    )
    assert (enforced.limits.memory, enforced.limits.processes) == (2 << 30, 9)


async def test_a_unit_is_created_started_stopped_and_deleted_and_nothing_is_left(
    provider: DockerProvider, state: StateDirectory
) -> None:
    gateway = state.identity(GATEWAY_ID)
    assert (await provider.observe("box")).state == "absent"
    await provider.create("box", SPEC, ignore)
    await provider.create("box", SPEC, ignore)
    assert (await provider.observe("box")).state == "stopped"
    endpoint = await provider.start("box", SPEC, RUNTIME, ignore)
    assert endpoint.token
    seen = await provider.observe("box")
    assert (seen.state, seen.runtime, seen.isolation) == ("running", RUNTIME, "docker")
    pids = processes(state)
    await provider.stop("box")
    assert not any(process.is_running() for process in pids)
    assert (await provider.observe("box")).state == "stopped"
    await provider.delete("box")
    assert (await provider.observe("box")).state == "absent"
    assert docker.left(gateway) == []
    assert docker.mounts(state.root) == []
    assert not state.sandbox("box").home.exists()


async def test_stopping_and_deleting_what_does_not_exist_is_no_error(provider: DockerProvider) -> None:
    await provider.stop("box")
    await provider.delete("box")


async def test_only_the_named_start_is_stopped(provider: DockerProvider) -> None:
    await started(provider)
    await provider.stop("box", "f" * 16)
    assert (await provider.observe("box")).state == "running"
    await provider.stop("box", RUNTIME)
    assert (await provider.observe("box")).state == "stopped"


async def test_another_gateway_of_the_state_directory_finds_all_units(
    make_provider: Callable[..., DockerProvider],
) -> None:
    first, second = make_provider(), make_provider()
    await started(first, "one")
    await first.create("two", SPEC, ignore)
    found = {seen.unit: (seen.state, seen.runtime) for seen in await second.discover()}
    assert found == {"one": ("running", RUNTIME), "two": ("stopped", None)}


async def test_units_of_another_state_directory_are_not_seen(
    make_provider: Callable[..., DockerProvider], bundle: Path, tmp_path: Path
) -> None:
    await make_provider().create("box", SPEC, ignore)
    other = DockerProvider(StateDirectory(tmp_path / "other"), bundle, engine=docker.ADDRESS)
    try:
        assert await other.discover() == []
        assert (await other.observe("box")).state == "absent"
    finally:
        await other.close()


async def test_a_paused_unit_is_suspended_goes_on_and_can_be_stopped(
    provider: DockerProvider, state: StateDirectory
) -> None:
    await started(provider)
    await provider.pause("box")
    assert (await provider.observe("box")).state == "paused"
    await provider.resume("box")
    assert (await provider.observe("box")).state == "running"
    await provider.pause("box")
    await provider.stop("box")
    assert (await provider.observe("box")).state == "stopped"


async def test_a_container_ends_with_its_runtime(provider: DockerProvider, state: StateDirectory) -> None:
    await started(provider)
    runtime_process(state).send_signal(signal.SIGKILL)
    await eventually(lambda: docker.container_of(state.identity(GATEWAY_ID), "box")["State"]["Status"] == "exited")
    assert (await provider.observe("box")).state == "stopped"
    await provider.stop("box")
    await provider.start("box", SPEC, "f" * 16, ignore)
    assert (await provider.observe("box")).runtime == "f" * 16


async def test_a_container_that_was_killed_is_started_again_with_its_files(
    provider: DockerProvider, state: StateDirectory
) -> None:
    await started(provider)
    docker.ask("POST", f"/containers/{docker.container_of(state.identity(GATEWAY_ID), 'box')['Id']}/kill")
    await provider.stop("box")
    await provider.start("box", SPEC, "f" * 16, ignore)
    assert (await provider.observe("box")).state == "running"


async def test_a_runtime_that_does_not_react_is_killed(
    make_provider: Callable[..., DockerProvider], state: StateDirectory
) -> None:
    provider = make_provider(grace=1)
    await started(provider)
    pids = processes(state)
    os.kill(pids[1].pid, signal.SIGSTOP)
    await provider.stop("box")
    assert not any(process.is_running() for process in pids)
    assert (await provider.observe("box")).state == "stopped"


async def test_a_cancelled_start_is_ended_by_stop(provider: DockerProvider, state: StateDirectory) -> None:
    await provider.create("box", SPEC, ignore)
    starting = asyncio.create_task(provider.start("box", SPEC, RUNTIME, ignore))
    await eventually(lambda: bool(_containers(state)))
    starting.cancel()
    await asyncio.gather(starting, return_exceptions=True)
    await provider.stop("box")
    assert _containers(state) == []


async def test_a_removal_that_the_engine_refuses_for_a_while_is_repeated(tmp_path: Path, state: StateDirectory) -> None:
    refusals = iter(range(6))
    left = [{"Id": "c" * 64, "State": "created"}]

    async def engine(request: web.Request) -> web.Response:
        if request.method == "DELETE":
            if next(refusals, None) is not None:
                return web.json_response({"message": "removal is in progress"}, status=409)
            left.clear()
            return web.Response(status=204)
        return web.json_response(left if request.path.endswith("/containers/json") else {"ApiVersion": "1.41"})

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", engine)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.UnixSite(runner, str(tmp_path / "engine")).start()
    provider = DockerProvider(state, tmp_path, engine=f"unix://{tmp_path}/engine", image="none")
    try:
        await provider.stop("box")
        assert left == []
    finally:
        await provider.close()
        await runner.cleanup()


def _containers(state: StateDirectory) -> list[str]:
    return [name for name in docker.left(state.identity(GATEWAY_ID)) if name.startswith("/")]


async def test_a_runtime_that_cannot_start_is_an_error(bundle: Path, images: None, state: StateDirectory) -> None:
    provider = DockerProvider(
        state, bundle, engine=docker.ADDRESS, image=docker.BUSYBOX, arguments=["--no-such-option"]
    )
    try:
        await provider.create("box", SPEC, ignore)
        with pytest.raises(HawseError, match="ended with exit code 2"):
            await provider.start("box", SPEC, RUNTIME, ignore)
        await provider.delete("box")
    finally:
        await provider.close()
        docker.clean(state.identity(GATEWAY_ID))


async def test_an_image_that_does_not_exist_is_a_wrong_parameter(provider: DockerProvider) -> None:
    spec = SandboxSpec(image="127.0.0.1:1/hawse/does-not-exist:1")
    with pytest.raises(HawseError) as caught:
        await provider.create("box", spec, ignore)
    assert caught.value.code in ("invalid_params", "unavailable")  # the latter where the registry does not answer


async def test_a_limit_that_cannot_be_enforced_is_refused(provider: DockerProvider) -> None:
    with pytest.raises(HawseError, match="cannot limit the disk"):
        await provider.create("box", SandboxSpec(limits=SandboxLimits(disk=1 << 20)), ignore)


async def test_an_id_that_is_a_path_is_refused(provider: DockerProvider) -> None:
    with pytest.raises(HawseError) as caught:
        await provider.create("../box", SPEC, ignore)
    assert caught.value.code == "invalid_params"
