"""The local provider with programs in place of a runtime, and with the real one."""

import asyncio
import itertools
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from hawse.api.sandboxes import Isolation
from hawse.link.sockets import accepts_connections
from hawse.wire import HawseError
from hawse_gateway.egress.settings import EgressSettings, SecretSettings
from hawse_gateway.providers import local
from hawse_gateway.providers.base import Endpoint, Observation, Progress, SandboxSpec
from hawse_gateway.providers.local import LocalProvider
from hawse_gateway.providers.marked_processes import find_marked
from hawse_gateway.providers.runtime_process import RuntimeProcess
from hawse_gateway.providers.state_directory import StateDirectory
from tests.support.gateway import eventually
from tests.support.sockets import pid_behind
from tests.support.waiting import gone, lines

LISTENER = """
import os, socket, sys, time
if "--listener" in sys.argv:
    s = socket.socket(fileno=int(sys.argv[sys.argv.index("--listener") + 1]))
else:
    s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[sys.argv.index("--socket") + 1])
s.listen()
print(os.getsid(0) == os.getpid(), os.getcwd(), sorted(n for n in os.environ if "HAWSE" in n), flush=True)
while True:
    s.accept()
"""

UNLINK = "import os, sys; os.path.exists(sys.argv[2]) and os.unlink(sys.argv[2])\n"  # as the real runtime does


@pytest.fixture
def state(tmp_path: Path) -> Iterator[StateDirectory]:
    """A state directory. The runtimes that were started in it are ended."""
    state = StateDirectory(tmp_path)
    yield state
    for path in tmp_path.glob("sandboxes/*/runtime.sock"):
        if accepts_connections(path):
            os.kill(pid_behind(path), signal.SIGKILL)


SPEC = SandboxSpec()
RUNTIME_IDS = (f"{number:016x}" for number in itertools.count(1))


def no_report(progress: Progress) -> None:
    """The progress is not looked at."""


async def start(provider: LocalProvider, unit: str = "local") -> Path:
    """Create and start a unit; return the path of its socket."""
    await provider.create(unit, SPEC, no_report)
    address = (await provider.start(unit, SPEC, next(RUNTIME_IDS), no_report)).address
    assert isinstance(address, Path)
    return address


Make = Callable[..., LocalProvider]


@pytest.fixture
async def make(state: StateDirectory) -> AsyncIterator[Make]:
    made: list[LocalProvider] = []

    def provider(program: str = LISTENER, isolation: Isolation = "none", **options: Any) -> LocalProvider:
        made.append(LocalProvider(state, isolation, runtime=[sys.executable, "-I", "-c", program], **options))
        return made[-1]

    yield provider
    for one in made:
        for found in await one.discover():
            await one.stop(found.unit)


async def test_a_unit_is_created_started_and_observed(make: Make) -> None:
    provider = make()
    assert await provider.observe("local") == Observation(unit="local", state="absent")
    await provider.create("local", SPEC, no_report)
    await provider.create("local", SPEC, no_report)  # what exists is not an error
    assert await provider.observe("local") == Observation(unit="local", state="stopped")
    endpoint = await provider.start("local", SPEC, "0123456789abcdef", no_report)
    assert await provider.observe("local") == Observation(
        unit="local", state="running", runtime="0123456789abcdef", endpoint=endpoint, isolation="none"
    )


async def test_the_runtime_gets_its_id_and_the_name_of_the_unit(make: Make) -> None:
    provider = make("import sys; print(sys.argv[-4:], flush=True)\n" + LISTENER)
    await provider.create("mine", SPEC, no_report)
    endpoint = await provider.start("mine", SPEC, "0123456789abcdef", no_report)
    assert isinstance(endpoint.address, Path)
    text = await lines(endpoint.address.parent / "runtime.log")
    assert text[0].splitlines()[0] == str(["--sandbox", "mine", "--id", "0123456789abcdef"])


async def test_a_runtime_does_not_get_the_variables_of_secrets(
    state: StateDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_TOKEN", "s3cret")
    secret = SecretSettings(hosts=["api.test"], header="A", env="API_TOKEN")
    program = "import os; print(os.environ.get('API_TOKEN'), flush=True)\n" + LISTENER
    runtime = [sys.executable, "-I", "-c", program]
    provider = LocalProvider(state, "none", runtime=runtime, egress=EgressSettings(secrets={"a": secret}))
    text = await lines((await start(provider)).parent / "runtime.log")
    assert text[0].splitlines()[0] == "None"
    await provider.stop("local")


async def test_a_runtime_has_its_own_session_and_neither_the_gateways_directory_nor_its_secrets(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HAWSE_TOKEN", "secret")
    path = await start(make())
    log = path.parent / "runtime.log"
    await lines(log)
    assert log.read_text().strip() == "True / []"


async def test_a_large_log_is_truncated_at_the_next_start(make: Make, state: StateDirectory) -> None:
    paths = state.sandbox("local")
    paths.make()
    paths.log.write_bytes(b"x" * (local.LOG_MAX + 1))
    await start(make())
    await lines(paths.log)
    assert paths.log.stat().st_size < 100


async def test_a_second_gateway_finds_the_runtime_of_the_first(make: Make) -> None:
    path = await start(make())
    seen = await make("raise SystemExit('must not be started')").observe("local")
    assert (seen.state, seen.endpoint, seen.isolation) == ("running", Endpoint(path), "none")


async def test_the_running_runtimes_isolation_is_reported(make: Make, state: StateDirectory) -> None:
    await start(make())
    assert (await make(isolation="bubblewrap").observe("local")).isolation == "none"
    state.sandbox("local").isolation.write_text("invented by a program")
    assert (await make().observe("local")).isolation is None


async def test_a_runtime_that_ends_at_once_is_unavailable_and_only_the_log_has_its_output(
    make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    provider = make("raise SystemExit('a secret of the operator')")
    with pytest.raises(HawseError, match="the runtime ended with exit code 1") as caught:
        await start(provider)
    assert (caught.value.code, caught.value.admitted) == ("unavailable", "no")
    assert "secret" not in str(caught.value)
    assert "a secret of the operator" in caplog.text
    assert (await provider.observe("local")).gone


async def test_starting_a_runtime_that_never_listens_times_out(make: Make) -> None:
    with pytest.raises(HawseError, match=r"did not accept connections within 0\.1 s"):
        await start(make("import time; time.sleep(60)", start_timeout=0.1))
    assert (await make().observe("local")).state == "unreachable"
    await make().stop("local")
    assert (await make().observe("local")).state == "stopped"


async def test_a_killed_runtime_is_started_again(make: Make) -> None:
    provider = make(UNLINK + LISTENER)
    path = await start(provider)
    pid = pid_behind(path)
    os.kill(pid, signal.SIGKILL)
    await gone(pid)
    assert (await provider.observe("local")).state == "stopped"
    await start(provider)
    assert pid_behind(path) != pid


async def test_a_missing_executable_is_unavailable(state: StateDirectory) -> None:
    with pytest.raises(HawseError, match="cannot start"):
        await start(LocalProvider(state, "none", runtime=["/nonexistent/python"]))


async def test_a_unit_starts_while_the_files_of_another_are_removed(state: StateDirectory) -> None:
    """A sibling of H2: the removal of large workspaces took all threads of the loop's default executor."""
    go, removals = threading.Event(), ThreadPoolExecutor(1)
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
    slow = removals.submit(go.wait, 60)
    provider = LocalProvider(state, "none", runtime=[sys.executable, "-I", "-c", LISTENER], removals=removals)
    await provider.create("large", SPEC, no_report)
    async with asyncio.TaskGroup() as tasks:
        deleting = tasks.create_task(provider.delete("large"))
        await start(provider, "other")
        assert not deleting.done()
        go.set()
    assert slow.result()
    assert (await provider.observe("large")).state == "absent"
    await provider.stop("other")
    await provider.close()


async def test_the_path_of_the_state_directory_may_be_long(tmp_path: Path) -> None:
    """The address of a Unix socket has at most 107 bytes."""
    provider = LocalProvider(StateDirectory(tmp_path / ("x" * 200)), "none")
    path = await start(provider)
    try:
        assert len(str(path)) > 200
        assert accepts_connections(path)
        assert RuntimeProcess.listening_on(path) is not None
    finally:
        await provider.stop("local")
    assert not accepts_connections(path)


# ---- several sandboxes


async def code_of(asked: Awaitable[object]) -> str:
    with pytest.raises(HawseError) as caught:
        await asked
    return caught.value.code


@pytest.mark.parametrize("unit", ["../a", "a\n", "", "a" * 65, ".hidden"])
async def test_a_unit_whose_name_is_not_allowed_is_refused(state: StateDirectory, unit: str) -> None:
    provider = LocalProvider(state, "none")
    for call in (provider.create(unit, SPEC, no_report), provider.observe(unit), provider.stop(unit)):
        assert await code_of(call) == "invalid_params"


async def test_units_are_discovered_by_the_next_gateway(make: Make, state: StateDirectory) -> None:
    await make().create("mine", SPEC, no_report)
    await start(make(), "yours")
    seen = {found.unit: found.state for found in await LocalProvider(state, "none").discover()}
    assert seen == {"mine": "stopped", "yours": "running"}


async def test_deleting_a_unit_ends_it_and_removes_its_files(make: Make, state: StateDirectory) -> None:
    provider = make()
    process = RuntimeProcess.listening_on(await start(provider, "mine"))
    await provider.delete("mine")
    assert process is not None
    assert not process.alive
    assert await provider.discover() == []
    assert list((state.root / "sandboxes").iterdir()) == []
    await provider.delete("mine")  # a repeated deletion is not an error


async def test_the_capabilities_contain_the_reason_for_weaker_isolation(state: StateDirectory) -> None:
    provider = LocalProvider(state, "none", isolation_reason="bwrap is not installed")
    capabilities = await provider.capabilities()
    assert (capabilities.isolation, capabilities.isolation_reason) == ("none", "bwrap is not installed")
    assert "bubblewrap is required" in capabilities.refused["filtered"]
    assert not capabilities.images


# ---- stopping


async def test_stopping_a_sandbox_that_does_not_run_does_nothing(make: Make) -> None:
    provider = make()
    await provider.stop("local")
    assert (await provider.observe("local")).gone


async def test_stopping_one_start_does_not_end_a_later_one(make: Make) -> None:
    provider = make()
    await provider.create("local", SPEC, no_report)
    await provider.start("local", SPEC, "0000000000000002", no_report)
    await provider.stop("local", "0000000000000001")
    assert (await provider.observe("local")).state == "running"
    await provider.stop("local", "0000000000000002")
    assert (await provider.observe("local")).gone


async def test_without_isolation_stop_also_ends_the_programs_of_a_killed_runtime(make: Make) -> None:
    program = "import subprocess, os; subprocess.Popen(['sleep', '300'], start_new_session=True, "
    program += "env={'PATH': os.environ['PATH'], 'HAWSE_RUNTIME': sys.argv[-1]})\n"
    provider = make("import sys\n" + program + LISTENER)
    await provider.create("local", SPEC, no_report)
    endpoint = await provider.start("local", SPEC, "fedcba9876543210", no_report)
    assert isinstance(endpoint.address, Path)
    os.kill(pid_behind(endpoint.address), signal.SIGKILL)
    assert len(find_marked("fedcba9876543210")) == 1
    await provider.stop("local")
    assert find_marked("fedcba9876543210") == []


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


async def test_a_frozen_runtime_is_seen_and_can_be_stopped(make: Make) -> None:
    provider = make(UNLINK + LISTENER)
    path = await start(provider)
    process = RuntimeProcess.listening_on(path)
    assert process is not None
    os.kill(process.pid, signal.SIGSTOP)
    await eventually(lambda: process.frozen)  # the kernel stops another process without an event for us
    assert (await provider.observe("local")).state == "frozen"
    await provider.stop("local")
    assert (await provider.observe("local")).state == "stopped"
    assert pid_behind(await start(provider)) != process.pid


async def test_a_runtime_that_has_lost_its_socket_is_unreachable_and_can_be_stopped(make: Make) -> None:
    path = await start(make())
    process = RuntimeProcess.listening_on(path)
    path.unlink()  # as a program in the sandbox may do
    assert (await make().observe("local")).state == "unreachable"
    await make().stop("local")
    assert process is not None
    assert not process.alive


# ---- isolation


# ---- the real runtime


@pytest.mark.parametrize("isolation", ["none", "bubblewrap"])
async def test_stop_ends_the_real_runtime_even_without_its_socket(state: StateDirectory, isolation: Isolation) -> None:
    provider = LocalProvider(state, isolation)
    path = await start(provider)
    inside = with_namespace_of(pid_behind(path)) if isolation == "bubblewrap" else []
    process = RuntimeProcess.listening_on(path)
    path.unlink()
    await provider.stop("local")
    assert process is not None
    assert not process.alive
    assert not running(inside)


@pytest.mark.parametrize("isolation", ["none", "bubblewrap"])
async def test_the_real_runtime_starts_and_outlives_the_provider(state: StateDirectory, isolation: Isolation) -> None:
    provider = LocalProvider(state, isolation)
    path = await start(provider)
    assert (await provider.observe("local")).isolation == isolation
    pid = pid_behind(path)
    endpoint = (await LocalProvider(state, isolation).observe("local")).endpoint
    assert endpoint is not None
    assert endpoint.address == path
    assert (endpoint.token is None, endpoint.uid is None) == ((isolation == "none"),) * 2
    os.kill(pid, signal.SIGTERM)
    await gone(pid)
    assert not accepts_connections(path)
    await provider.stop("local")


def with_namespace_of(pid: int) -> list[psutil.Process]:
    """Return the processes in the PID namespace of a process. Its number is used again when they have ended."""
    found = []
    namespace = os.readlink(f"/proc/{pid}/ns/pid")
    for process in psutil.process_iter():
        with suppress(OSError, psutil.NoSuchProcess):  # it has ended
            if os.readlink(f"/proc/{process.pid}/ns/pid") == namespace:
                found.append(process)
    return found


def running(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Return the processes that have not ended. A zombie has ended: only its parent is late."""
    found = []
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            if process.is_running() and process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
                found.append(process)
    return found


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
    inside = with_namespace_of(pid_behind(path))
    assert len(inside) >= 3  # the first process, the program, and what it started
    os.kill(pid_behind(path), signal.SIGKILL)
    await eventually(lambda: not running(inside))  # the kernel reports the end of a namespace by no event
    await provider.stop("local")


async def test_stop_ends_a_runtime_whose_gateway_was_killed_before_it_had_recorded_it(state: StateDirectory) -> None:
    others = set(psutil.Process().children())
    killed = LocalProvider(state, "bubblewrap")
    path = await start(killed)
    inside = with_namespace_of(pid_behind(path))
    (bubblewrap,) = (process.pid for process in psutil.Process().children() if process not in others)
    recorded = RuntimeProcess.of_pid(bubblewrap)
    assert recorded is not None
    recorded.save(state.sandbox("local").process)
    await LocalProvider(state, "bubblewrap").stop("local")
    assert not accepts_connections(path)
    await eventually(lambda: not running(inside))
    await killed.stop("local")  # which waits for its child


async def test_a_new_runtime_can_start_after_the_first_was_killed(state: StateDirectory) -> None:
    provider = LocalProvider(state, "bubblewrap")
    others = set(psutil.Process().children())
    path = await start(provider)
    started = [process.pid for process in psutil.Process().children() if process not in others]
    os.kill(pid_behind(path), signal.SIGKILL)
    await gone(*started)
    assert not accepts_connections(path)
    again = await start(provider)
    assert accepts_connections(again)
    await provider.stop("local")
