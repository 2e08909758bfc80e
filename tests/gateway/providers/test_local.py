"""The local provider with programs that stand for a runtime, and with the real one."""

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from gateway.providers import bubblewrap, local
from gateway.providers.base import SandboxSpec
from gateway.providers.local import LocalProvider, choose_isolation
from gateway.providers.runtime_process import RuntimeProcess
from gateway.providers.state_directory import StateDirectory, StateError
from gateway.transport.listener import accepts_connections
from hawse.api.gateway import Isolation, SandboxInfo
from hawse.wire import HawseError
from tests.support.gateway import eventually
from tests.support.sockets import pid_behind
from tests.support.waiting import lines

LISTENER = """
import os, socket, sys, time
at = sys.argv.index("--socket")
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[at + 1]); s.listen()
print(os.getsid(0) == os.getpid(), os.getcwd(), sorted(n for n in os.environ if "HAWSE" in n), flush=True)
while True:
    s.accept()
"""

UNLINK = "import os, sys; os.path.exists(sys.argv[2]) and os.unlink(sys.argv[2])\n"  # as the real runtime does

bwrap_works = pytest.mark.skipif(
    bubblewrap.find() is None or bubblewrap.probe(shutil.which("bwrap") or "") is not None,
    reason="bubblewrap does not work here",
)


@pytest.fixture
def state(tmp_path: Path) -> Iterator[StateDirectory]:
    """Whatever was started in it is ended."""
    state = StateDirectory(tmp_path)
    yield state
    for path in tmp_path.glob("sandboxes/*/run/runtime.sock"):
        if accepts_connections(path):
            os.kill(pid_behind(path), signal.SIGKILL)


async def start(provider: LocalProvider) -> Path:
    """Start the sandbox `local`; return the path of its socket."""
    address = (await provider.ensure("local")).address
    assert isinstance(address, Path)
    return address


Make = Callable[..., LocalProvider]


@pytest.fixture
def make(state: StateDirectory) -> Iterator[Make]:
    made: list[LocalProvider] = []

    def provider(program: str = LISTENER, isolation: Isolation = "none") -> LocalProvider:
        made.append(LocalProvider(state, isolation, runtime=[sys.executable, "-I", "-c", program]))
        return made[-1]

    yield provider
    for one in made:
        for child in one._children.values():
            child.kill()
            child.wait()


async def test_a_sandbox_is_started_when_it_is_needed_and_then_reused(make: Make) -> None:
    provider = make()
    assert (await provider.observe("local")).state == "stopped"
    path = await start(provider)
    pid = pid_behind(path)
    assert (await provider.observe("local")).state == "running"
    assert await start(provider) == path
    assert pid_behind(path) == pid


async def test_concurrent_callers_start_one_runtime(make: Make) -> None:
    provider = make()
    paths = await asyncio.gather(*(start(provider) for _ in range(20)))
    assert len(set(paths)) == 1
    assert len(paths[0].parent.parent.joinpath("runtime.log").read_text().splitlines()) == 1


async def test_a_runtime_has_its_own_session_and_neither_the_gateways_directory_nor_its_secrets(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HAWSE_TOKEN", "secret")
    path = await start(make())
    log = path.parent.parent / "runtime.log"
    await lines(log)
    assert log.read_text().strip() == "True / []"


async def test_a_large_log_is_truncated_at_the_next_start(make: Make, state: StateDirectory) -> None:
    paths = state.sandbox("local")
    paths.make()
    paths.log.write_bytes(b"x" * (local.LOG_MAX + 1))
    await make().ensure("local")
    await lines(paths.log)
    assert paths.log.stat().st_size < 100


async def test_a_second_gateway_finds_the_runtime_of_the_first(make: Make) -> None:
    path = await start(make())
    pid = pid_behind(path)
    second = make("raise SystemExit('must not be started')")
    assert await start(second) == path
    assert pid_behind(path) == pid
    assert (await second.observe("local")).isolation == "none"


async def test_the_reported_isolation_is_that_of_the_running_runtime(make: Make, state: StateDirectory) -> None:
    await make().ensure("local")
    assert (await make(isolation="bubblewrap").observe("local")).isolation == "none"
    state.sandbox("local").isolation.write_text("invented by a program")
    assert (await make().observe("local")).isolation is None


async def test_a_runtime_that_ends_at_once_is_unavailable_and_only_the_log_has_its_output(
    make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    provider = make("raise SystemExit('a secret of the operator')")
    with pytest.raises(HawseError, match="the runtime ended with exit code 1") as caught:
        await provider.ensure("local")
    assert (caught.value.code, caught.value.admitted) == ("unavailable", "no")
    assert "secret" not in str(caught.value)
    assert "a secret of the operator" in caplog.text
    assert (await provider.observe("local")).state == "failed"


async def test_starting_a_runtime_that_never_listens_times_out(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "START_TIMEOUT", 0.1)
    with pytest.raises(HawseError, match="did not accept connections within"):
        await make("import time; time.sleep(60)").ensure("local")


async def test_a_killed_runtime_is_started_again(make: Make) -> None:
    provider = make(UNLINK + LISTENER)
    path = await start(provider)
    pid = pid_behind(path)
    os.kill(pid, signal.SIGKILL)
    await eventually(lambda: not accepts_connections(path))
    assert (await provider.observe("local")).state == "stopped"
    await provider.ensure("local")
    assert pid_behind(path) != pid


async def test_a_missing_executable_is_unavailable(state: StateDirectory) -> None:
    with pytest.raises(HawseError, match="was not started"):
        await LocalProvider(state, "none", runtime=["/nonexistent/python"]).ensure("local")


async def test_a_socket_path_that_is_too_long_is_unavailable_with_advice(tmp_path: Path) -> None:
    with pytest.raises(HawseError, match="choose a shorter --state"):
        await LocalProvider(StateDirectory(tmp_path / ("x" * 90)), "none").ensure("local")


# ---- several sandboxes


async def code_of(asked: Awaitable[object]) -> str:
    with pytest.raises(HawseError) as caught:
        await asked
    return caught.value.code


async def test_an_unknown_sandbox_is_not_found(state: StateDirectory) -> None:
    provider = LocalProvider(state, "none", sandboxes=("a", "b"))
    assert [sandbox.id for sandbox in await provider.discover()] == ["a", "b"]
    assert (await provider.observe("a")).state == "stopped"
    for unknown in ("local", "../a", "a\n", "", "a" * 65):
        assert await code_of(provider.observe(unknown)) == "not_found"
        assert await code_of(provider.ensure(unknown)) == "not_found"
        assert await code_of(provider.stop(unknown)) == "not_found"
        assert await code_of(provider.delete(unknown)) == "not_found"


async def test_a_created_sandbox_is_found_by_the_next_gateway(make: Make, state: StateDirectory) -> None:
    provider = make()
    assert await provider.create(SandboxSpec(id="mine")) == SandboxInfo(id="mine", state="stopped", isolation="none")
    assert await code_of(provider.create(SandboxSpec(id="mine"))) == "conflict"
    assert await code_of(provider.create(SandboxSpec(id="local"))) == "conflict"
    chosen = (await provider.create(SandboxSpec())).id
    assert {sandbox.id for sandbox in await LocalProvider(state, "none").discover()} == {"local", "mine", chosen}


@pytest.mark.parametrize("spec", [SandboxSpec(id="../etc"), SandboxSpec(id=""), SandboxSpec(image="debian:12")])
async def test_an_unsupported_sandbox_specification_is_refused(make: Make, spec: SandboxSpec) -> None:
    provider = make()
    assert await code_of(provider.create(spec)) == "invalid_params"
    assert [sandbox.id for sandbox in await provider.discover()] == ["local"]


async def test_deleting_a_sandbox_ends_it_and_removes_its_files(make: Make, state: StateDirectory) -> None:
    provider = make()
    await provider.create(SandboxSpec(id="mine"))
    endpoint = await provider.ensure("mine")
    assert isinstance(endpoint.address, Path)
    process = RuntimeProcess.listening_on(endpoint.address)
    await provider.delete("mine")
    assert process is not None
    assert not process.alive
    assert [sandbox.id for sandbox in await provider.discover()] == ["local"]
    assert list((state.root / "sandboxes").iterdir()) == []


async def test_the_capabilities_contain_the_reason_for_weaker_isolation(state: StateDirectory) -> None:
    provider = LocalProvider(state, "none", isolation_reason="bwrap is not installed")
    capabilities = await provider.capabilities()
    assert (capabilities.isolation, capabilities.isolation_reason) == ("none", "bwrap is not installed")
    assert not capabilities.images


# ---- stopping


async def test_stopping_a_sandbox_that_does_not_run_does_nothing(make: Make) -> None:
    provider = make()
    await provider.stop("local")
    assert (await provider.observe("local")).state == "stopped"


async def test_stop_ends_the_runtime_that_an_earlier_gateway_started(make: Make) -> None:
    process = RuntimeProcess.listening_on(await start(make()))
    assert process is not None
    second = make()
    await second.stop("local")
    assert not process.alive
    assert (await second.observe("local")).state == "stopped"


async def test_stop_kills_a_runtime_that_ignores_sigterm(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "STOP_GRACE", 0.1)
    provider = make("import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + LISTENER)
    process = RuntimeProcess.listening_on(await start(provider))
    await provider.stop("local")
    assert process is not None
    assert not process.alive


async def test_a_frozen_runtime_is_failed_and_unavailable_and_can_be_stopped(make: Make) -> None:
    provider = make(UNLINK + LISTENER)
    path = await start(provider)
    process = RuntimeProcess.listening_on(path)
    assert process is not None
    os.kill(process.pid, signal.SIGSTOP)
    await eventually(lambda: process.frozen)
    assert (await provider.observe("local")).state == "failed"
    assert await code_of(provider.ensure("local")) == "unavailable"
    await provider.stop("local")
    assert (await provider.observe("local")).state == "stopped"
    assert pid_behind(await start(provider)) != process.pid


async def test_a_runtime_that_has_lost_its_socket_is_replaced(make: Make) -> None:
    path = await start(make())
    process = RuntimeProcess.listening_on(path)
    path.unlink()  # as a program in the sandbox may do
    again = await start(make())
    assert again == path
    assert process is not None
    assert not process.alive
    assert pid_behind(again) != process.pid


# ---- isolation


def test_isolation_none_is_used_on_request() -> None:
    assert choose_isolation("none") == ("none", "requested by --isolation none")


def test_without_bwrap_auto_reports_the_reason_and_bubblewrap_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert choose_isolation("auto") == ("none", "bwrap is not installed")
    with pytest.raises(StateError, match="bwrap is not installed"):
        choose_isolation("bubblewrap")


def test_a_bwrap_that_does_not_work_is_always_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bwrap = tmp_path / "bwrap"
    bwrap.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n")
    bwrap.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert choose_isolation("auto") == ("none", "No permissions to create new namespace")
    with pytest.raises(StateError, match="No permissions"):
        choose_isolation("bubblewrap")


@bwrap_works
def test_bubblewrap_is_used_where_it_works() -> None:
    assert choose_isolation("auto") == ("bubblewrap", None)


# ---- the real runtime


@pytest.mark.parametrize("isolation", ["none", pytest.param("bubblewrap", marks=bwrap_works)])
async def test_stop_ends_the_real_runtime_also_without_its_socket(state: StateDirectory, isolation: Isolation) -> None:
    provider = LocalProvider(state, isolation)
    path = await start(provider)
    namespace = os.readlink(f"/proc/{pid_behind(path)}/ns/pid")
    process = RuntimeProcess.listening_on(path)
    path.unlink()
    await provider.stop("local")
    assert process is not None
    assert not process.alive
    assert isolation == "none" or not in_namespace(namespace)


@pytest.mark.parametrize("isolation", ["none", pytest.param("bubblewrap", marks=bwrap_works)])
async def test_the_real_runtime_starts_and_outlives_the_provider(state: StateDirectory, isolation: Isolation) -> None:
    provider = LocalProvider(state, isolation)
    path = await start(provider)
    assert (await provider.observe("local")).isolation == isolation
    pid = pid_behind(path)
    assert await start(LocalProvider(state, isolation)) == path
    os.kill(pid, signal.SIGTERM)
    (child,) = provider._children.values()
    await asyncio.to_thread(child.wait, 10)
    assert not accepts_connections(path)


def in_namespace(namespace: str) -> list[str]:
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{name}/ns/pid") == namespace:
                found.append(name)
        except OSError:  # it ended
            pass
    return found


@bwrap_works
async def test_killing_the_runtime_ends_every_process_of_its_sandbox(state: StateDirectory) -> None:
    program = [
        sys.executable,
        "-I",
        "-c",
        "import subprocess; subprocess.Popen(['sleep', '300'], start_new_session=True)",
    ]
    program[-1] += LISTENER
    provider = LocalProvider(state, "bubblewrap", runtime=program)
    path = await start(provider)
    namespace = os.readlink(f"/proc/{pid_behind(path)}/ns/pid")
    assert len(in_namespace(namespace)) >= 3  # the first process, the program, and what it started
    os.kill(pid_behind(path), signal.SIGKILL)
    await eventually(lambda: not in_namespace(namespace))
    (child,) = provider._children.values()
    await asyncio.to_thread(child.wait, 10)


@bwrap_works
async def test_a_new_runtime_can_start_after_the_first_was_killed(state: StateDirectory) -> None:
    provider = LocalProvider(state, "bubblewrap")
    path = await start(provider)
    os.kill(pid_behind(path), signal.SIGKILL)
    (child,) = provider._children.values()
    await asyncio.to_thread(child.wait, 10)
    assert not accepts_connections(path)
    again = await start(provider)
    assert accepts_connections(again)
    os.kill(pid_behind(again), signal.SIGKILL)
    (child,) = provider._children.values()
    await asyncio.to_thread(child.wait, 10)
