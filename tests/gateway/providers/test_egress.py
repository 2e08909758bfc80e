"""Proxy processes, as started, replaced and ended by a provider."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from hawse.api.egress import EgressPolicy
from hawse.wire import HawseError
from hawse_gateway.egress.plan import CONTROL_NAME, SOCKET_NAME
from hawse_gateway.egress.settings import EgressSettings, SecretSettings
from hawse_gateway.providers.egress import EgressProcesses, control_sockets, is_available
from hawse_gateway.providers.isolation import cgroups
from hawse_gateway.providers.runtime_process import RuntimeProcess
from hawse_gateway.providers.state_directory import SandboxPaths, StateDirectory
from tests.support.gateway import eventually

POLICY = EgressPolicy(allow=["api.test"])


Make = Callable[..., EgressProcesses]


@pytest.fixture
def state(tmp_path: Path) -> StateDirectory:
    return StateDirectory(tmp_path)


@pytest.fixture
def paths(state: StateDirectory) -> SandboxPaths:
    made = state.sandbox("box")
    made.make()
    return made


@pytest.fixture
async def make(paths: SandboxPaths, state: StateDirectory) -> AsyncIterator[Make]:
    """Makes what gateways have; at the end, everything that they started is ended."""
    made: list[EgressProcesses] = []

    def processes(**settings: Any) -> EgressProcesses:
        made.append(EgressProcesses(EgressSettings(**settings), state))
        return made[-1]

    yield processes
    for each in made:
        await each.end(paths)


def process_of(paths: SandboxPaths) -> RuntimeProcess:
    found = RuntimeProcess.load(paths.egress / "process")
    assert found is not None
    return found


async def test_a_proxy_is_started_and_ended(paths: SandboxPaths, state: StateDirectory, make: Make) -> None:
    processes = make()
    await processes.start(paths, POLICY)
    process = process_of(paths)
    assert process.alive
    assert (paths.run / SOCKET_NAME).exists()
    assert processes.authority(paths).startswith("-----BEGIN CERTIFICATE-----")
    assert control_sockets(state) == {"box": paths.egress / CONTROL_NAME}
    await processes.end(paths)
    assert not process.alive
    assert control_sockets(state) == {}
    await processes.end(paths)  # nothing is left to end


async def test_the_authority_of_a_sandbox_stays_the_same(paths: SandboxPaths, make: Make) -> None:
    processes = make()
    await processes.start(paths, POLICY)
    first = processes.authority(paths)
    await processes.end(paths)
    await processes.start(paths, POLICY)
    assert processes.authority(paths) == first


async def test_a_later_gateway_replaces_a_proxy_that_was_killed(paths: SandboxPaths, make: Make) -> None:
    await make().start(paths, POLICY)
    first = process_of(paths)
    later = make()
    await later.revive(paths)
    assert process_of(paths) == first  # it runs
    os.kill(first.pid, signal.SIGKILL)
    await eventually(lambda: not first.alive)
    await asyncio.gather(later.revive(paths), make().revive(paths))
    assert process_of(paths) != first
    assert process_of(paths).alive


async def test_ended_proxies_are_restarted_in_parallel(state: StateDirectory, make: Make) -> None:
    processes = make()
    many = [state.sandbox(f"box{number}") for number in range(3)]
    for each in many:
        each.make()
        await processes.start(each, POLICY)
    before = [process_of(each) for each in many]
    for process in before:
        os.kill(process.pid, signal.SIGKILL)
    await eventually(lambda: not any(process.alive for process in before))
    later = make()
    running = asyncio.create_task(later.run())
    try:
        later.note_running(many)
        await eventually(lambda: all(process_of(each).alive for each in many))
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        for each in many:
            await later.end(each)
            await processes.end(each)


@pytest.mark.skipif(cgroups.find() is None, reason="cannot create cgroups here")
async def test_a_proxy_has_a_cgroup_with_limits(paths: SandboxPaths, state: StateDirectory) -> None:
    processes = EgressProcesses(EgressSettings(), state, cgroups.find())
    await processes.start(paths, POLICY)
    places = [Path(place) for place in json.loads((paths.egress / "cgroups").read_text())]
    pid = process_of(paths).pid
    assert places
    for place in places:
        assert str(pid) in (place / "cgroup.procs").read_text().split()
        assert place.name.endswith("-egress")
    os.kill(pid, signal.SIGKILL)
    await eventually(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    await processes.revive(paths)  # in the same cgroup
    assert str(process_of(paths).pid) in (places[0] / "cgroup.procs").read_text().split()
    await processes.end(paths)
    assert not any(place.exists() for place in places)


async def test_a_sandbox_with_another_network_gets_no_proxy(paths: SandboxPaths, make: Make) -> None:
    await make().revive(paths)
    assert not paths.egress.exists()


async def test_a_proxy_that_is_not_ready_is_ended(
    paths: SandboxPaths, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: RuntimeProcess, path: Path) -> None:
        raise OSError("no space left on device")

    before = set(psutil.Process().children())
    monkeypatch.setattr(RuntimeProcess, "save", fail)
    with pytest.raises(HawseError, match="no space left"):
        await make().start(paths, POLICY)
    assert set(psutil.Process().children()) <= before


async def test_an_invalid_policy_is_reported(paths: SandboxPaths, make: Make) -> None:
    with pytest.raises(HawseError, match="is not a host name"):
        await make().start(paths, EgressPolicy(allow=["a..b"]))


async def test_a_secret_is_in_no_file_and_no_argument(
    paths: SandboxPaths, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HAWSE_TEST_TOKEN", "s3cret-value-of-the-test")
    secret = SecretSettings(hosts=["api.test"], header="Authorization", env="HAWSE_TEST_TOKEN")
    await make(secrets={"a": secret}).start(paths, EgressPolicy(secrets=["a"]))
    files = [path.read_bytes() for path in paths.home.rglob("*") if path.is_file()]
    pid = process_of(paths).pid
    process = psutil.Process(pid)
    files.append(repr(process.cmdline()).encode())
    with suppress(psutil.AccessDenied):  # only the superuser may read it
        files.append(repr(process.environ()).encode())
    assert not any(b"s3cret" in content for content in files)


def test_the_packages_of_the_proxy_are_installed() -> None:
    assert is_available()
