import json
import os
import socket
import stat
import sys
from pathlib import Path

import pytest

from hawse.api.sandboxes import SandboxLimits
from hawse.link.sockets import accepts_connections
from hawse_gateway.providers.base import Endpoint
from hawse_gateway.providers.isolation import host_user, start
from hawse_gateway.providers.isolation.bubblewrap import PACKAGE
from hawse_gateway.providers.state_directory import SandboxPaths, StateDirectory, StateError

WANTED = start.Wanted(network="private", limits=SandboxLimits(), tree=None)


@pytest.fixture
def paths(tmp_path: Path) -> SandboxPaths:
    paths = StateDirectory(tmp_path).sandbox("one")
    paths.make()
    return paths


def test_the_socket_refuses_connections_until_the_heir_listens(paths: SandboxPaths) -> None:
    with start.bound_socket(paths.socket) as fd:
        assert stat.S_IMODE(paths.socket.stat().st_mode) == 0o600
        assert not accepts_connections(paths.socket)
        heir = socket.socket(fileno=os.dup(fd))
    heir.listen()
    assert accepts_connections(paths.socket)
    heir.close()
    assert not accepts_connections(paths.socket)


def test_each_start_has_a_new_secret_for_the_gateway_and_the_runtime(paths: SandboxPaths) -> None:
    assert start.endpoint(paths) == Endpoint(paths.socket)
    secrets = set()
    for _ in range(2):
        with start.prepared(paths, WANTED, ["program", "argument"]) as prepared:
            assert str(prepared.argv).count("--listener") == 1
            assert len(prepared.fds) == 3
        endpoint = start.endpoint(paths)
        assert endpoint.token == (paths.run / "token").read_text()
        assert str(endpoint.token) not in str(prepared.argv)
        secrets.add(endpoint.token)
        for path in (paths.token, paths.run / "token"):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(secrets) == 2
    for fd in prepared.fds:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(fd)


def test_a_symbolic_link_in_place_of_the_secret_is_replaced(paths: SandboxPaths, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("kept")
    (paths.run / "token").symlink_to(victim)
    with start.prepared(paths, WANTED, ["program"]):
        assert victim.read_text() == "kept"


@pytest.mark.skipif(os.getuid() != 0, reason="only the superuser can use other users")
def test_each_sandbox_of_the_superuser_has_a_user_that_owns_its_files(paths: SandboxPaths) -> None:
    (paths.workspace / "file").touch()
    with start.prepared(paths, WANTED, ["program"]):
        uid = host_user.assigned(paths.uid)
        assert uid is not None
        owned = [paths.workspace, paths.workspace / "file", paths.run, paths.run / "token"]
        assert {path.stat().st_uid for path in owned} == {uid}
        assert {path.stat().st_uid for path in (paths.home, paths.token, paths.socket)} == {0}
        assert start.endpoint(paths).uid == uid


def test_without_bwrap_nothing_is_prepared(paths: SandboxPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setitem(sys.modules, PACKAGE, None)  # as if it were not installed
    with pytest.raises(StateError, match="no longer installed"), start.prepared(paths, WANTED, ["program"]):
        pass
    assert not paths.socket.exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only the superuser can use other users")
def test_without_a_cgroup_the_processes_of_the_sandboxs_user_are_limited(paths: SandboxPaths) -> None:
    few = start.Wanted(network="private", limits=SandboxLimits(processes=10), tree=None)
    with start.prepared(paths, few, ["program"]) as prepared:
        assert json.loads(prepared.argv[-1])["processes"] == 10 + start.RUNTIME_THREADS


def test_two_sandboxes_have_different_cgroups(tmp_path: Path) -> None:
    states = [StateDirectory(tmp_path / name) for name in "ab"]
    names = {start.cgroup_name(state.sandbox(unit)) for state in states for unit in ("one", "two")}
    assert len(names) == 4
