"""The Docker provider with a real engine and real containers."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest
from aiohttp import web

from hawse.api.sandboxes import SandboxCreate, SandboxLimits
from hawse.wire import HawseError
from hawse_gateway.providers.base import Progress, SandboxSpec
from hawse_gateway.providers.docker.provider import GATEWAY_ID, DockerProvider
from hawse_gateway.providers.egress import control_sockets
from hawse_gateway.providers.runtime_process import RuntimeProcess
from hawse_gateway.providers.state_directory import StateDirectory
from hawse_gateway.sandboxes.requests import check_request
from tests.support import docker
from tests.support.client import eventually

pytestmark = docker.needs_engine

RUNTIME = "0123456789abcdef"
SPEC = SandboxSpec()
FILTERED = SandboxSpec(network="filtered")


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


async def test_the_limits_that_the_engine_enforces_are_reported(provider: DockerProvider) -> None:
    capabilities = await provider.capabilities()
    assert (capabilities.provider, capabilities.isolation, capabilities.images) == ("docker", "docker", True)
    assert capabilities.networks == ("private", "host", "filtered")
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


async def test_stopping_and_deleting_a_missing_unit_does_nothing(provider: DockerProvider) -> None:
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


async def test_a_paused_unit_can_be_resumed_and_stopped(provider: DockerProvider, state: StateDirectory) -> None:
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


@asynccontextmanager
async def provider_of(
    state: StateDirectory, answer: Callable[[web.Request], web.Response], oci: str | None = None
) -> AsyncIterator[DockerProvider]:
    """Yield a provider whose engine gives the answers of a function."""

    async def engine(request: web.Request) -> web.Response:
        return answer(request)

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", engine)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.UnixSite(runner, f"{state.root}/engine").start()
    provider = DockerProvider(state, state.root, engine=f"unix://{state.root}/engine", image="none", oci_runtime=oci)
    try:
        yield provider
    finally:
        await provider.close()
        await runner.cleanup()


@pytest.mark.parametrize("status", [409, 404])
async def test_a_removal_that_the_engine_refuses_for_a_while_is_repeated(state: StateDirectory, status: int) -> None:
    until = asyncio.get_running_loop().time() + 0.5
    left = [{"Id": "c" * 64, "State": "created"}]

    def answer(request: web.Request) -> web.Response:
        if request.method == "DELETE":
            if asyncio.get_running_loop().time() < until:
                return web.json_response({"message": "it is not ready"}, status=status)
            left.clear()
            return web.Response(status=204)
        return web.json_response(left if request.path.endswith("/containers/json") else {"ApiVersion": "1.41"})

    async with provider_of(state, answer) as provider:
        await provider.stop("box")
        assert left == []


@pytest.mark.parametrize(
    ("kernel", "default", "oci", "reason"),
    [
        (os.uname().release, "runc", "runsc", "gVisor"),
        (os.uname().release, "runsc", None, "gVisor"),
        ("6.1.0-of-another-machine", "runc", None, "different machines"),
    ],
)
async def test_an_engine_without_filtered_networks_reports_it_and_starts_none(
    state: StateDirectory, kernel: str, default: str, oci: str | None, reason: str
) -> None:
    information = {"ApiVersion": "1.41", "KernelVersion": kernel, "DefaultRuntime": default}
    async with provider_of(state, lambda request: web.json_response(information), oci) as provider:
        capabilities = await provider.capabilities()
        assert capabilities.networks == ("private", "host")
        with pytest.raises(HawseError, match=reason) as caught:
            check_request(SandboxCreate(network="filtered"), capabilities, "docker")
        assert caught.value.code == "invalid_params"
        with pytest.raises(HawseError, match=reason) as caught:  # it was created before the engine was changed
            await provider.start("box", FILTERED, RUNTIME, ignore)
        assert (caught.value.code, caught.value.retryable) == ("unavailable", False)


async def test_the_proxy_of_a_filtered_network_is_started_found_and_ended_with_its_container(
    make_provider: Callable[..., DockerProvider], state: StateDirectory
) -> None:
    provider = make_provider()
    await provider.create("box", FILTERED, ignore)
    await provider.start("box", FILTERED, RUNTIME, ignore)
    record = state.sandbox("box").egress / "process"
    proxy = RuntimeProcess.load(record)
    assert proxy is not None
    assert proxy.alive
    await provider.stop("box", "f" * 16)  # of another start: it is not that which runs
    assert proxy.alive
    later = make_provider()
    running = asyncio.create_task(later.run())
    try:
        os.kill(proxy.pid, signal.SIGKILL)
        await eventually(lambda: not proxy.alive)
        assert [found.state for found in await later.discover()] == ["running"]
        await eventually(lambda: (found := RuntimeProcess.load(record)) is not None and found != proxy and found.alive)
        second = RuntimeProcess.load(record)
        assert second is not None
        await later.delete("box")
        assert not second.alive
        assert not record.exists()
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await provider.stop("box")  # reaps the proxy that was killed


async def test_a_start_that_fails_leaves_no_proxy_after_its_stop(
    bundle: Path, images: None, state: StateDirectory
) -> None:
    provider = DockerProvider(state, bundle, engine=docker.ADDRESS, image=docker.BUSYBOX, arguments=["--no-such"])
    try:
        await provider.create("box", FILTERED, ignore)
        with pytest.raises(HawseError, match="ended with exit code 2"):
            await provider.start("box", FILTERED, RUNTIME, ignore)
        await provider.stop("box")
        assert not (state.sandbox("box").egress / "process").exists()
        assert control_sockets(state) == {}
        await provider.delete("box")
    finally:
        await provider.close()
        docker.clean(state.identity(GATEWAY_ID))


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
