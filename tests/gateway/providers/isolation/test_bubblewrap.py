"""The runtime's view from inside the outer sandbox. Each run is a real bwrap with the real flags."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hawse_gateway.providers.isolation import bubblewrap
from hawse_gateway.providers.isolation.bubblewrap import BubblewrapSandbox, HostUser
from tests.support.outer import run_in, sandbox


@pytest.fixture
def place() -> Iterator[BubblewrapSandbox]:
    with sandbox() as place:
        yield place


def inside(place: BubblewrapSandbox, *argv: str) -> subprocess.CompletedProcess[str]:
    return run_in(place, *argv, env={"HAWSE_TOKEN": "secret"})


def python(place: BubblewrapSandbox, program: str) -> str:
    run = inside(place, sys.executable, "-I", "-c", program)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_the_workspace_is_shared_and_is_home(place: BubblewrapSandbox) -> None:
    run = inside(place, "sh", "-c", "pwd; echo $HOME; echo hello > file")
    assert run.stdout.split() == ["/workspace", "/workspace"]
    assert (place.workspace / "file").read_text() == "hello\n"


def test_files_belong_to_another_user_than_the_superuser(place: BubblewrapSandbox) -> None:
    assert inside(place, "sh", "-c", "id -un; touch file; stat -c %U file").stdout.split() == ["user", "user"]
    assert (place.workspace / "file").stat().st_uid != 0 or os.getuid() != 0
    assert (place.workspace / "file").stat().st_uid == place.workspace.stat().st_uid


def test_of_the_machine_only_the_two_directories_are_visible(place: BubblewrapSandbox) -> None:
    (place.private / "token").touch()
    run = inside(
        place, "sh", "-c", f"ls -d {place.workspace} {place.private.parent}; ls /run/hawse; ls /mnt; ls -A /home"
    )
    home = Path("/home")
    code = Path(sys.prefix).relative_to(home).parts[:1] if home in Path(sys.prefix).parents else ()
    assert run.stdout.split() == ["token", *code]  # a checkout in a home directory is visible with nothing beside it


def test_system_files_are_read_only(place: BubblewrapSandbox) -> None:
    run = inside(place, "sh", "-c", "head -c1 /etc/passwd > /dev/null && echo read; touch /usr/x; touch /etc/hosts")
    assert run.stdout.split() == ["read"]
    assert len(run.stderr.splitlines()) == 2
    assert "/usr/x': Read-only file system" in run.stderr


def test_password_files_keys_and_home_directories_are_hidden(place: BubblewrapSandbox) -> None:
    run = inside(place, "sh", "-c", "ls /etc/shadow /etc/sudoers /etc/ssl/private /var/lib /boot /root/.ssh")
    assert run.stdout == ""
    assert inside(place, "cat", "/etc/passwd").stdout.encode() == bubblewrap.PASSWD
    assert inside(place, "sh", "-c", "ls /etc/ssl/certs | head -1").stdout != ""


def test_the_environment_contains_only_the_gateways_variables(place: BubblewrapSandbox) -> None:
    names = {line.partition("=")[0] for line in inside(place, "env").stdout.splitlines()}
    assert inside(place, "sh", "-c", "test -x $SHELL && echo $SHELL").stdout == "/bin/bash\n"
    assert names - {"PWD", "_", "SHLVL"} == {"PATH", "HOME", "LANG", "SHELL", "USER", "LOGNAME"}


def test_processes_outside_the_sandbox_are_hidden(place: BubblewrapSandbox) -> None:
    pids = python(place, "import os; print(*[p for p in os.listdir('/proc') if p.isdigit()])").split()
    assert len(pids) <= 3
    assert str(os.getpid()) not in pids


def test_the_runtime_has_few_capabilities_in_its_own_user_namespace_and_can_make_no_other(
    place: BubblewrapSandbox,
) -> None:
    status = python(place, "print(open('/proc/self/status').read())")
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert int(fields["CapEff"], 16) == int(fields["CapBnd"], 16) == 1 << 24 | 1 << 21 | 1 << 18 | 1 << 8
    assert fields["NoNewPrivs"] == "1"
    assert inside(place, "unshare", "-U", "true").returncode != 0


def test_a_pty_can_be_opened_inside(place: BubblewrapSandbox) -> None:
    program = "import os, pty; m, s = os.openpty(); print(os.ttyname(s)); os.write(s, b'x'); print(os.read(m, 1))"
    assert python(place, program).split() == ["/dev/pts/0", "b'x'"]


def test_file_systems_in_memory_have_a_size_and_devices_cannot_be_added(place: BubblewrapSandbox) -> None:
    program = """
import os
for path in ("/run", "/tmp", "/var/tmp", "/dev/shm"):
    found = os.statvfs(path)
    print(path, found.f_blocks * found.f_frsize)
open("/dev/null", "w").close()
try:
    open("/dev/x", "w")
except OSError as error:
    print(error.strerror)
"""
    expected = [f"{path} {size}" for path, size in bubblewrap.TMPFS.items()]
    assert python(place, program).splitlines() == [*expected, "Read-only file system"]


def test_each_sandbox_has_its_own_world_writable_tmp(place: BubblewrapSandbox, tmp_path: Path) -> None:
    outside = tmp_path / "of-another-user"
    outside.touch()
    program = f"import os; print(oct(os.stat('/tmp').st_mode & 0o7777), os.path.exists({str(outside)!r}))"
    assert python(place, program) == "0o1777 False"


def test_the_runtime_can_be_imported_inside_from_any_installation_directory(place: BubblewrapSandbox) -> None:
    (place.workspace / "asyncio.py").write_text("raise SystemExit('imported from the workspace')")
    assert python(place, "import asyncio, runtime, hawse.wire; print('loaded')") == "loaded"


def test_host_names_resolve_as_they_do_outside(place: BubblewrapSandbox) -> None:
    assert python(place, "import socket; print(socket.gethostname(), socket.gethostbyname('localhost'))") == (
        "hawse 127.0.0.1"
    )


@pytest.mark.parametrize(("network", "reached"), [("host", True), ("private", False), ("none", False)])
def test_only_with_the_network_of_the_host_its_loopback_is_reached(network: str, reached: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, sandbox(network=network) as place:
        program = f"import socket; print(socket.socket().connect_ex(('127.0.0.1', {server.getsockname()[1]})))"
        assert (python(place, program) == "0") is reached
        abstract = socket.socket(socket.AF_UNIX)
        name = f"\0hawse-test-{os.getpid()}"
        abstract.bind(name)
        abstract.listen()
        program = f"import socket; print(socket.socket(socket.AF_UNIX).connect_ex({name!r}))"
        assert (python(place, program) == "0") is reached
        abstract.close()


def test_with_a_private_network_loopback_works(place: BubblewrapSandbox) -> None:
    program = "import socket; s = socket.create_server(('', 0)); socket.create_connection(s.getsockname()); print('ok')"
    assert python(place, program) == "ok"


def test_orphans_are_reaped(place: BubblewrapSandbox) -> None:
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
while (left := zombies()) and time.monotonic() < end:
    pass
print(len(left))
"""
    assert python(place, program) == "0"


@pytest.mark.parametrize("code", [0, 3, 77])
def test_the_exit_code_is_passed_through(place: BubblewrapSandbox, code: int) -> None:
    assert inside(place, "sh", "-c", f"exit {code}").returncode == code


@pytest.mark.parametrize(("network", "options"), [("none", ["--no-network"]), ("private", []), ("host", [])])
def test_the_runtime_gets_the_options_that_the_sandbox_needs(network: str, options: list[str]) -> None:
    with sandbox(network=network) as place:
        shared = [] if os.getuid() == 0 else ["--shared-user"]
        assert bubblewrap.runtime_options(place) == ["--private", "/run/hawse", "--inner", *options, *shared]


def test_an_older_bwrap_gets_only_options_that_it_supports(place: BubblewrapSandbox, tmp_path: Path) -> None:
    old = tmp_path / "bwrap"
    old.write_text("#!/bin/sh\necho usage\n")
    old.chmod(0o755)
    new = bubblewrap.find()
    assert new is not None
    assert {"--disable-userns", "--size"} <= set(bubblewrap.command(new, place, ["true"]))
    assert not {"--disable-userns", "--size"} & set(bubblewrap.command(str(old), place, ["true"]))
    assert not bubblewrap.limits_memory_file_systems(str(old))


def test_root_runs_the_packaged_bwrap_where_another_user_can_enter(
    place: BubblewrapSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    packaged = bubblewrap.find()
    assert packaged is not None
    plan = json.loads(bubblewrap.command(packaged, place, ["true"], HostUser(uid=1000))[-1])
    inside = plan["argv"][0]
    assert inside.startswith("/mnt/")
    number, _, rest = inside.removeprefix("/mnt/").partition("/")
    assert f"{plan['stage'][int(number)]}/{rest}" == packaged
    assert bubblewrap.command(packaged, place, ["true"])[0] == packaged


def test_the_directories_that_programs_can_read_are_known() -> None:
    assert {Path("/usr"), Path("/etc/hosts"), Path(sys.prefix)} <= {
        *bubblewrap.bound(),
        *map(Path, sys.prefix.split(":")),
    }
