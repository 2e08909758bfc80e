"""What a program in the sandbox sees. Each run is a real bwrap with the real flags."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.providers import bubblewrap
from gateway.providers.state_directory import SandboxPaths, StateDirectory

BWRAP = bubblewrap.find()
WORKS = BWRAP is not None and bubblewrap.probe(BWRAP) is None

pytestmark = pytest.mark.skipif(not WORKS, reason="bubblewrap does not work here")


@pytest.fixture
def paths(tmp_path: Path) -> SandboxPaths:
    state = StateDirectory(tmp_path / "state")
    state.token()
    paths = state.sandbox("local")
    paths.make()
    return paths


def inside(paths: SandboxPaths, *argv: str) -> subprocess.CompletedProcess[str]:
    assert BWRAP is not None
    command = bubblewrap.command(BWRAP, paths, list(argv))
    return subprocess.run(command, capture_output=True, text=True, check=False, env={"HAWSE_TOKEN": "secret"}, cwd="/")


def python(paths: SandboxPaths, program: str) -> str:
    run = inside(paths, sys.executable, "-I", "-c", program)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_the_workspace_is_shared_and_is_home(paths: SandboxPaths) -> None:
    run = inside(paths, "sh", "-c", "pwd; echo $HOME; echo hello > file")
    assert run.stdout.split() == ["/workspace", "/workspace"]
    assert (paths.workspace / "file").read_text() == "hello\n"


def test_only_the_workspace_and_the_socket_directory_of_the_state_are_visible(paths: SandboxPaths) -> None:
    (paths.run / "runtime.sock").touch()
    run = inside(paths, "sh", "-c", f"ls -d {paths.home.parent.parent}; find / -xdev -name token; ls /run/hawse")
    assert run.stdout.split() == ["runtime.sock"]


def test_system_files_are_read_only(paths: SandboxPaths) -> None:
    run = inside(paths, "sh", "-c", "head -c1 /etc/passwd > /dev/null && echo read; touch /usr/x; touch /etc/hosts")
    assert run.stdout.split() == ["read"]
    assert run.stderr.count("Read-only file system") == 2


def test_password_files_and_home_directories_are_hidden(paths: SandboxPaths) -> None:
    run = inside(paths, "sh", "-c", "ls /etc/shadow /etc/sudoers /home /var/lib /boot /mnt /root/.ssh")
    assert run.stdout == ""


def test_the_environment_contains_only_what_the_gateway_sets(paths: SandboxPaths) -> None:
    names = {line.partition("=")[0] for line in inside(paths, "env").stdout.splitlines()}
    assert names - {"PWD", "_", "SHLVL"} == {"PATH", "HOME", "LANG", "SHELL", "USER", "LOGNAME"}


def test_processes_outside_the_sandbox_are_hidden(paths: SandboxPaths) -> None:
    pids = python(paths, "import os; print(*[p for p in os.listdir('/proc') if p.isdigit()])").split()
    assert len(pids) <= 3
    assert str(os.getpid()) not in pids


def test_a_sandbox_has_no_capabilities_and_cannot_gain_any(paths: SandboxPaths) -> None:
    status = python(paths, "print(open('/proc/self/status').read())")
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert int(fields["CapEff"], 16) == 0
    assert fields["NoNewPrivs"] == "1"
    assert inside(paths, "unshare", "-U", "true").returncode != 0


def test_a_pty_can_be_opened_inside(paths: SandboxPaths) -> None:
    program = "import os, pty; m, s = os.openpty(); print(os.ttyname(s)); os.write(s, b'x'); print(os.read(m, 1))"
    assert python(paths, program).split() == ["/dev/pts/0", "b'x'"]


def test_each_sandbox_has_its_own_world_writable_tmp(paths: SandboxPaths, tmp_path: Path) -> None:
    outside = tmp_path / "of-another-user"
    outside.touch()
    program = f"import os; print(oct(os.stat('/tmp').st_mode & 0o7777), os.path.exists({str(outside)!r}))"
    assert python(paths, program) == "0o1777 False"


def test_the_runtime_can_be_imported_inside_from_any_installation_directory(paths: SandboxPaths) -> None:
    (paths.workspace / "asyncio.py").write_text("raise SystemExit('imported from the workspace')")
    where = python(paths, "import asyncio, runtime, hawse.wire; print('loaded')")
    assert where == "loaded"


def test_host_names_resolve_as_they_do_outside(paths: SandboxPaths) -> None:
    assert python(paths, "import socket; print(socket.gethostname(), socket.gethostbyname('localhost'))") == (
        "hawse 127.0.0.1"
    )


def test_orphans_are_reaped(paths: SandboxPaths) -> None:
    program = """
import os, subprocess, time
def stat(pid):
    try:
        return open(f"/proc/{pid}/stat").read()
    except (FileNotFoundError, ProcessLookupError):
        return ") X"  # it has just ended
subprocess.run(["sh", "-c", "for n in 1 2 3 4 5 6 7 8 9; do (true &); done"], check=True)
def zombies():
    stats = [stat(p) for p in os.listdir("/proc") if p.isdigit()]
    return [stat for stat in stats if stat.rpartition(")")[2].split()[0] == "Z"]
end = time.monotonic() + 5
while zombies() and time.monotonic() < end:
    pass
print(len(zombies()))
"""
    assert python(paths, program) == "0"


@pytest.mark.parametrize("code", [0, 3, 77])
def test_the_exit_code_is_passed_through(paths: SandboxPaths, code: int) -> None:
    assert inside(paths, "sh", "-c", f"exit {code}").returncode == code


def test_the_reason_why_bwrap_does_not_work_is_reported(tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    broken.chmod(0o755)
    assert bubblewrap.probe(str(broken)) == "bwrap: setting up uid map: Permission denied"
    broken.write_text("#!/bin/sh\nexit 7\n")
    assert bubblewrap.probe(str(broken)) == "bwrap ended with exit code 7"
    assert "No such file" in str(bubblewrap.probe(str(tmp_path / "none")))


def test_an_older_bwrap_gets_only_options_that_it_supports(tmp_path: Path) -> None:
    old = tmp_path / "bwrap"
    old.write_text("#!/bin/sh\necho usage\n")
    old.chmod(0o755)
    assert BWRAP is not None
    assert "--disable-userns" in bubblewrap.root(BWRAP)
    assert "--disable-userns" not in bubblewrap.root(str(old))
