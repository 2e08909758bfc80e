"""The local provider with programs that stand for a runtime, and with the real one."""

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gateway.providers import bubblewrap, local
from gateway.providers.local import LocalProvider, choose_isolation
from gateway.providers.state_directory import StateDirectory, StateError
from gateway.transport.listener import answers
from hawse.api.gateway import Isolation
from hawse.wire import HawseError
from tests.support.gateway import eventually
from tests.support.sockets import pid_behind

LISTENER = """
import os, socket, sys, time
at = sys.argv.index("--socket")
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[at + 1]); s.listen()
print(os.getsid(0) == os.getpid(), os.getcwd(), sorted(n for n in os.environ if "HAWSE" in n), flush=True)
while True:
    s.accept()
"""

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
        if answers(path):
            os.kill(pid_behind(path), signal.SIGKILL)


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


async def test_a_sandbox_is_started_when_it_is_needed_and_then_found(make: Make) -> None:
    provider = make()
    assert provider.sandboxes()[0].state == "stopped"
    path = await provider.ensure("local")
    pid = pid_behind(path)
    assert provider.sandboxes()[0].state == "running"
    assert await provider.ensure("local") == path
    assert pid_behind(path) == pid


async def test_many_callers_at_once_start_one(make: Make) -> None:
    provider = make()
    paths = await asyncio.gather(*(provider.ensure("local") for _ in range(20)))
    assert len(set(paths)) == 1
    assert len(paths[0].parent.parent.joinpath("runtime.log").read_text().splitlines()) == 1


async def test_a_runtime_has_its_own_session_no_folder_of_ours_and_none_of_our_secrets(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HAWSE_TOKEN", "secret")
    path = await make().ensure("local")
    log = path.parent.parent / "runtime.log"
    await eventually(log.read_text)
    assert log.read_text().strip() == "True / []"


async def test_a_log_that_has_grown_large_is_begun_anew(make: Make, state: StateDirectory) -> None:
    paths = state.sandbox("local")
    paths.make()
    paths.log.write_bytes(b"x" * (local.LOG_MAX + 1))
    await make().ensure("local")
    await eventually(paths.log.read_text)
    assert paths.log.stat().st_size < 100


async def test_another_gateway_finds_the_runtime_of_the_first(make: Make) -> None:
    path = await make().ensure("local")
    pid = pid_behind(path)
    second = make("raise SystemExit('must not be started')")
    assert await second.ensure("local") == path
    assert pid_behind(path) == pid
    assert second.sandboxes()[0].isolation == "none"


async def test_the_isolation_shown_is_that_of_the_runtime_that_runs(make: Make, state: StateDirectory) -> None:
    await make().ensure("local")
    assert make(isolation="bubblewrap").sandboxes()[0].isolation == "none"
    state.sandbox("local").isolation.write_text("made up by somebody")
    assert make().sandboxes()[0].isolation is None


async def test_a_runtime_that_ends_at_once_is_unavailable_with_its_last_words(make: Make) -> None:
    provider = make("raise SystemExit('no such luck')")
    with pytest.raises(HawseError, match="the runtime ended with 1: no such luck") as caught:
        await provider.ensure("local")
    assert (caught.value.code, caught.value.admitted) == ("unavailable", "no")
    assert provider.sandboxes()[0].state == "failed"


async def test_a_runtime_that_never_listens_is_given_up(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "START_TIMEOUT", 0.1)
    with pytest.raises(HawseError, match="did not come up"):
        await make("import time; time.sleep(60)").ensure("local")


async def test_a_runtime_that_was_killed_is_started_anew(make: Make) -> None:
    provider = make("import os, sys; os.path.exists(sys.argv[2]) and os.unlink(sys.argv[2])\n" + LISTENER)
    path = await provider.ensure("local")
    pid = pid_behind(path)
    os.kill(pid, signal.SIGKILL)
    await eventually(lambda: not answers(path))
    assert provider.sandboxes()[0].state == "stopped"
    await provider.ensure("local")
    assert pid_behind(path) != pid


async def test_a_program_that_is_not_there_is_unavailable(state: StateDirectory) -> None:
    with pytest.raises(HawseError, match="was not started"):
        await LocalProvider(state, "none", runtime=["/nonexistent/python"]).ensure("local")


async def test_a_path_too_long_is_unavailable_with_advice(tmp_path: Path) -> None:
    with pytest.raises(HawseError, match="choose a shorter --state"):
        await LocalProvider(StateDirectory(tmp_path / ("x" * 90)), "none").ensure("local")


def test_only_its_own_sandboxes_are_known(state: StateDirectory) -> None:
    provider = LocalProvider(state, "none", sandboxes=("a", "b"))
    assert [sandbox.id for sandbox in provider.sandboxes()] == ["a", "b"]
    assert provider.knows("a")
    assert not provider.knows("local")


# ---- isolation


def test_none_is_taken_when_asked_for() -> None:
    assert choose_isolation("none") == ("none", "asked for")


def test_without_bwrap_auto_says_so_and_bubblewrap_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert choose_isolation("auto") == ("none", "there is no bwrap")
    with pytest.raises(StateError, match="there is no bwrap"):
        choose_isolation("bubblewrap")


def test_a_bwrap_that_does_not_work_is_never_passed_over_in_silence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bwrap = tmp_path / "bwrap"
    bwrap.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n")
    bwrap.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert choose_isolation("auto") == ("none", "No permissions to create new namespace")
    with pytest.raises(StateError, match="No permissions"):
        choose_isolation("bubblewrap")


@bwrap_works
def test_where_bwrap_works_it_is_taken() -> None:
    assert choose_isolation("auto") == ("bubblewrap", None)


# ---- the real runtime


@pytest.mark.parametrize("isolation", ["none", pytest.param("bubblewrap", marks=bwrap_works)])
async def test_the_real_runtime_starts_and_outlives_the_provider(state: StateDirectory, isolation: Isolation) -> None:
    provider = LocalProvider(state, isolation)
    path = await provider.ensure("local")
    assert provider.sandboxes()[0].isolation == isolation
    pid = pid_behind(path)
    assert await LocalProvider(state, isolation).ensure("local") == path
    os.kill(pid, signal.SIGTERM)
    (child,) = provider._children.values()
    await asyncio.to_thread(child.wait, 10)
    assert not answers(path)


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
async def test_killing_the_runtime_leaves_nothing_of_its_sandbox(state: StateDirectory) -> None:
    program = [
        sys.executable,
        "-I",
        "-c",
        "import subprocess; subprocess.Popen(['sleep', '300'], start_new_session=True)",
    ]
    program[-1] += LISTENER
    provider = LocalProvider(state, "bubblewrap", runtime=program)
    path = await provider.ensure("local")
    namespace = os.readlink(f"/proc/{pid_behind(path)}/ns/pid")
    assert len(in_namespace(namespace)) >= 3  # the first process, the program, and what it started
    os.kill(pid_behind(path), signal.SIGKILL)
    await eventually(lambda: not in_namespace(namespace))
    (child,) = provider._children.values()
    await asyncio.to_thread(child.wait, 10)


@bwrap_works
async def test_after_the_runtime_was_killed_another_can_start(state: StateDirectory) -> None:
    provider = LocalProvider(state, "bubblewrap")
    path = await provider.ensure("local")
    os.kill(pid_behind(path), signal.SIGKILL)
    (child,) = provider._children.values()
    await asyncio.to_thread(child.wait, 10)
    assert not answers(path)
    again = await provider.ensure("local")
    assert answers(again)
    os.kill(pid_behind(again), signal.SIGKILL)
    (child,) = provider._children.values()
    await asyncio.to_thread(child.wait, 10)
