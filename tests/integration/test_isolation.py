"""Probes that run as user code in an isolated sandbox of a real gateway. Each checks one promise of SECURITY.md."""

import json
import os
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
import pytest_asyncio

import hawse
from hawse.api.sandboxes import Enforcement, SandboxLimits
from hawse.client import Sandbox
from hawse.wire import HawseError
from hawse_gateway.providers.isolation import bubblewrap, cgroups, disk_image, start
from hawse_gateway.providers.registry import ProviderOptions, create_provider
from hawse_gateway.providers.state_directory import StateDirectory, StateError
from tests.support.runtime import eventually
from tests.support.sockets import pid_behind
from tests.support.stack import Stack, free_port
from tests.support.waiting import gone

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    async with Stack(tmp_path_factory.mktemp("isolation") / "state", isolation="bubblewrap") as stack:
        yield stack


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def box(stack: Stack) -> AsyncIterator[Sandbox]:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        yield hw.sandbox()


async def output(box: Sandbox, command: str) -> str:
    """Run a command as user code, and return its stdout and stderr."""
    result = await box.exec(f"{{ {command}\n}} 2>&1", timeout=60)
    return bytes(result.stdout).decode().strip()


async def python(box: Sandbox, program: str) -> str:
    result = await box.exec(["python3", "-c", program], timeout=60)
    return bytes(result.stdout + result.stderr).decode().strip()


def proc(pid: int, file: str) -> str:
    return Path(f"/proc/{pid}/{file}").read_text()


def sleeping(parent: psutil.Process) -> list[psutil.Process]:
    """Return the `sleep` processes below a process. Others may end in the meantime."""
    found = []
    for child in parent.children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if child.name() == "sleep":
                found.append(child)
    return found


ROOT = Path(__file__).resolve().parents[2]
DEVICE = "character special file"


def paths_of(stack: Stack) -> Path:
    return stack.state / "sandboxes" / "local"


# ---- 1: the user


async def test_programs_are_not_the_superuser_of_the_machine(stack: Stack, box: Sandbox) -> None:
    process = await box.processes.start("exec sleep 60")
    (runtime,) = stack.runtimes()
    await eventually(lambda: sleeping(runtime))  # bash is still starting it
    programs = sleeping(runtime)
    assert all(program.uids().real not in (0,) for program in programs)
    assert os.getuid() != 0 or runtime.uids().real != 0
    assert await output(box, "id -un; id -u; echo $HOME") == "user\n1000\n/workspace"
    await process.kill()


async def test_nothing_of_the_machine_below_proc_or_sys_can_be_written(box: Sandbox) -> None:
    program = """
import os, stat
for root in ("/proc", "/sys"):
    for folder, _, names in os.walk(root):
        if folder.startswith("/proc/") and folder.split("/")[2].isdigit():
            continue
        for path in (os.path.join(folder, name) for name in names):
            if stat.S_ISREG(os.lstat(path).st_mode) and os.access(path, os.W_OK):
                print(path)
for path in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/sys/vm/overcommit_memory"):
    try:
        open(path, "w")
        print("opened", path)
    except OSError:
        pass
print("done")
"""
    assert await python(box, program) == "done"


# ---- 2: the runtime and user code


@pytest.mark.parametrize(
    ("program", "kind"), [("read x", "line"), ("stty -echo; read x", "secret"), ("stty raw; cat", "key")]
)
async def test_the_runtime_sees_a_program_that_waits_for_input(box: Sandbox, program: str, kind: str) -> None:
    async with box.terminals.open(f"asks-{kind}", argv=["sh", "-c", f"printf 'Go on? '; {program}"]) as terminal:
        waited = await terminal.wait_for(waiting=True)
        assert waited.waiting is not None
        assert (waited.waiting.kind, waited.waiting.prompt) == (kind, "Go on?")
        assert not waited.waiting.guess
        await terminal.kill()


async def test_the_runtime_sees_a_program_that_only_looks_as_if_it_waits(box: Sandbox) -> None:
    async with box.terminals.open("computes", argv=["sh", "-c", "printf 'Password: '; exec sleep 3600"]) as terminal:
        await terminal.expect("Password: ")
        waited = await terminal.wait_for(waiting=True, timeout=2)
        assert waited.event == "timeout"
        assert (await box.terminals.get("computes")).waiting.kind == "no"
        await terminal.kill()


async def test_the_runtime_cannot_be_named_signalled_or_read(stack: Stack, box: Sandbox) -> None:
    async with box.terminals.open("cat1", argv=["cat"]):
        program = """
import os, signal
for pid in range(1, 400):
    if pid == os.getpid():
        continue
    for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM):
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            pass
names = {}
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        names[pid] = open(f"/proc/{pid}/comm").read().strip()
    except OSError:
        pass
print(names["1"], "python" in "".join(names[pid] for pid in names if int(pid) != os.getpid()))
"""
        assert await python(box, program) == "cat False"
        (runtime,) = stack.runtimes()
        assert runtime.status() != psutil.STATUS_STOPPED
        assert (await box.exec("true")).code == 0


async def test_the_first_process_cannot_be_read_or_traced(box: Sandbox) -> None:
    program = """
import ctypes, os
for name in ("environ", "mem", "maps", "syscall", "stack"):
    try:
        open(f"/proc/1/{name}", "rb").read(1)
        print("read", name)
    except OSError:
        pass
for name in ("cwd", "root", "exe", "fd/0", "ns/mnt"):
    try:
        os.readlink(f"/proc/1/{name}")
        print("link", name)
    except OSError:
        pass
print(ctypes.CDLL(None).ptrace(16, 1, 0, 0))  # PTRACE_ATTACH
"""
    assert await python(box, program) == "-1"


async def test_recordings_output_and_the_secret_of_the_runtime_are_not_there(stack: Stack, box: Sandbox) -> None:
    async with box.terminals.open("cat2", argv=["cat"]) as terminal:
        recording = await terminal.record()
        assert list((paths_of(stack) / "run" / "recordings").iterdir())
        found = await output(
            box, "ls -A /run/hawse; touch /run/hawse/x; find / -name '*.cast' -o -name runtime.lock 2> /dev/null"
        )
        assert found == "touch: cannot touch '/run/hawse/x': Read-only file system"
        token = (paths_of(stack) / "token").read_text()
        assert token not in await output(box, "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr '\\0' ' '")
        await recording.stop()


async def test_the_file_methods_do_not_lead_to_what_programs_cannot_reach(box: Sandbox) -> None:
    await output(box, "ln -s /run/hawse/token a; ln -s /proc/self/fd b; ln -s /proc/self/environ c; ln -s /proc d")
    for path in ("a", "b/3", "c", "d/self/environ", "/proc/self/mem"):
        with pytest.raises(HawseError) as refused:
            await box.files.read(path)
        assert refused.value.code == "not_found", path
    assert [entry async for entry in box.files.list("/run/hawse")] == []


async def test_files_of_the_api_belong_to_the_user_of_programs(box: Sandbox) -> None:
    await box.files.write("made", b"x")
    assert await output(box, "stat -c %U made; echo y >> made; rm made; echo $?") == "user\n0"
    await output(box, "echo inside > /tmp/of-a-program")
    assert bytes(await box.files.read("/tmp/of-a-program")) == b"inside\n"


# ---- 3: the socket


async def test_the_socket_of_the_runtime_is_not_there_and_programs_cannot_take_its_place(
    stack: Stack, box: Sandbox
) -> None:
    path = paths_of(stack) / "runtime.sock"
    assert await output(box, f"find / -type s 2>/dev/null; cat /proc/net/unix | grep -c hawse; ls {path}") == (
        f"0\nls: cannot access '{path}': No such file or directory"
    )
    assert pid_behind(path) == stack.runtimes()[0].pid


async def test_the_runtime_refuses_a_client_without_the_secret(stack: Stack, box: Sandbox) -> None:
    await box.exec("true")
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(paths_of(stack) / "runtime.sock"))
        hello = b'{"type":"hello","protocol":1,"client":"x","window":0}'
        client.sendall(len(hello).to_bytes(4, "big") + hello)
        client.settimeout(10)
        assert b"unauthenticated" in client.recv(4096)


# ---- 4: the network


async def test_the_loopback_of_the_machine_is_not_reached_and_previews_work(stack: Stack, box: Sandbox) -> None:
    program = f"import socket; print(socket.socket().connect_ex(('127.0.0.1', {stack.port})))"
    assert await python(box, program) != "0"
    assert await python(box, "import socket; print(socket.socket().connect_ex(('192.0.2.1', 80)))") == "101"
    port = free_port()
    server = await box.processes.start(["python3", "-m", "http.server", str(port), "--bind", "127.0.0.1"])
    await server.wait_for_port(port)
    listed = await box.ports.list()
    assert [(found.port, found.process) for found in listed] == [(port, "python3")]
    inner = listed[0].pid
    assert (
        await output(box, f"tr '\\0' ' ' < /proc/{inner}/cmdline") == f"python3 -m http.server {port} --bind 127.0.0.1"
    )
    await server.kill()


async def test_abstract_sockets_of_the_machine_are_not_reached(box: Sandbox) -> None:
    name = f"\0hawse-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()
        assert await python(box, f"import socket; print(socket.socket(socket.AF_UNIX).connect_ex({name!r}))") == "111"


@pytest.mark.parametrize(("network", "reached"), [("host", True), ("none", False)])
async def test_the_network_is_an_option_of_the_gateway(tmp_path: Path, network: str, reached: bool) -> None:
    async with (
        Stack(tmp_path / "state", "--network", network, isolation="bubblewrap") as stack,
        hawse.connect(stack.base, token=stack.token) as hw,
    ):
        program = f"import socket; print(socket.socket().connect_ex(('127.0.0.1', {stack.port})))"
        assert (await python(hw.sandbox(), program) == "0") is reached


# ---- 5: system calls


async def test_programs_have_filters_no_privileges_and_a_keyring_of_their_own(box: Sandbox) -> None:
    status = await output(box, "grep -E '^(Cap|NoNewPrivs|Seccomp)' /proc/self/status")
    values = dict(line.split(":\t") for line in status.splitlines())
    assert {values[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
    assert (values["NoNewPrivs"], values["Seccomp"]) == ("1", "2")
    assert "Operation not permitted" in await output(box, "unshare -U true")
    assert "cat: /proc/keys" not in await output(box, "cat /proc/keys")
    assert await output(box, "wc -c < /proc/keys") == "0"


async def test_a_program_types_nothing_into_a_terminal(box: Sandbox) -> None:
    async with box.terminals.open("stdin") as terminal:
        program = "import fcntl; fcntl.ioctl(0, 0x5412, b'x')"
        ran = await terminal.run(f'python3 -c "{program}"')
        assert b"Operation not permitted" in ran.output


# ---- 6: limits


@pytest.mark.skipif(cgroups.find() is None, reason="no cgroup can be made here")
async def test_programs_are_in_a_cgroup_of_their_own_and_the_runtime_is_not(stack: Stack, box: Sandbox) -> None:
    process = await box.processes.start("sleep 60 & exec sleep 60")
    (runtime,) = stack.runtimes()

    await eventually(lambda: len(sleeping(runtime)) == 2)
    programs = sleeping(runtime)
    name = start.cgroup_name(StateDirectory(stack.state).sandbox("local"))
    for program in programs:
        assert f"/hawse/{name}" in proc(program.pid, "cgroup")
    assert [proc(child.pid, "oom_score_adj") for child in programs if child.ppid() == runtime.pid] == ["200\n"]
    assert name not in proc(runtime.pid, "cgroup")
    await process.kill()
    limits = [Path(place, "pids.max") for place in json.loads((paths_of(stack) / "cgroups").read_text())]
    assert [file.read_text().strip() for file in limits if file.exists()] == [str(cgroups.PROCESSES)]


@pytest.mark.skipif(cgroups.find() is None, reason="no cgroup can be made here")
async def test_a_sandbox_does_not_get_more_processes_and_memory_than_its_limits(stack: Stack, box: Sandbox) -> None:
    limits = SandboxLimits(processes=40, memory=256 << 20)
    async with (
        hawse.connect(stack.base, token=stack.token) as hw,
        hw.sandboxes.create("limited", limits=limits) as limited,
    ):
        program = """
import os, signal
count = 0
try:
    while True:
        if os.fork() == 0:
            signal.pause()
        count += 1
except BlockingIOError:
    print(count, flush=True)
os.kill(-1, signal.SIGKILL)
"""
        result = await limited.exec(["python3", "-c", program], timeout=60)
        assert 30 <= int(result.stdout) < 40
        result = await limited.exec(["python3", "-c", "len(bytearray(b'x') * (1 << 30))"], timeout=60)
        assert result.signal == "SIGKILL"
        assert (await limited.exec("echo still here")).stdout == b"still here\n"
    name = start.cgroup_name(StateDirectory(stack.state).sandbox("limited"))
    assert not list(cgroups.ROOT.glob(f"**/{name}"))


GREEDY = """
import ctypes, os, resource, sys, time
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
libc = ctypes.CDLL(None)
def take(get):
    count = 0
    try:
        while get() >= 0: count += 1
    except OSError:
        pass
    return count
taken = [
    take(lambda: os.open("/dev/ptmx", os.O_RDWR)),
    take(libc.inotify_init),
    take(lambda: libc.mq_open(b"/q%d" % time.monotonic_ns(), os.O_CREAT | os.O_RDWR, 0o600, None)),
    sum(libc.semget(0, 32000, 0o600) >= 0 for _ in range(20)),  # not more: without a limit, 2 MB of the kernel each
    take(lambda: libc.syscall(248, b"user", b"k%d" % time.monotonic_ns(), b"x", 1, -2)),  # add_key
]
print(*taken, flush=True)
sys.stdin.read()
"""


async def test_a_sandbox_that_takes_all_it_can_leaves_another_one_what_it_needs(stack: Stack, box: Sandbox) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw, hw.sandboxes.create() as other:
        async with box.processes.start(["python3", "-c", GREEDY], stdin=True) as greedy:
            taken = await anext(aiter(greedy.stdout.lines()))
            ptys, _, _, arrays, _ = map(int, taken.split())
            assert ptys > 100
            assert arrays < 20 or os.getuid() != 0
            with pytest.raises(HawseError) as raised:
                await box.terminals.open("own")
            assert raised.value.code == "limit_exceeded"
            async with other.terminals.open("t", argv=["sh"]) as terminal:
                await terminal.write(b"echo $((20+3))\n")
                await terminal.expect("23", echo=True)
            async with other.watches.start(".") as watch:
                await other.files.write("f", b"x")
                await anext(aiter(watch))
            assert (await other.exec("ipcs -s | wc -l; echo ok")).stdout.endswith(b"ok\n")
        async with box.terminals.open("own", argv=["true"]) as terminal:  # works without a restart
            await terminal.wait()


async def test_what_is_enforced_is_reported(stack: Stack, box: Sandbox) -> None:
    await box.exec("true")
    async with hawse.connect(stack.base, token=stack.token) as hw:
        (found,) = [info for info in await hw.sandboxes.list() if info.id == "local"]
    tree = cgroups.find()
    counted = tree is not None and "processes" in tree.parents
    assert found.isolation == "bubblewrap"
    assert found.enforcement == Enforcement(
        network="private",
        user=os.getuid() == 0,
        separated=True,
        system_calls=True,
        memory_files=True,
        limits=SandboxLimits(processes=cgroups.PROCESSES if counted else None),
    )


# ---- 7 and 8: disk and files


async def test_a_workspace_of_fixed_size_is_enforced_or_refused(stack: Stack) -> None:
    limits = SandboxLimits(disk=32 << 20)
    paths = StateDirectory(stack.state).sandbox("fixed")
    async with hawse.connect(stack.base, token=stack.token) as hw:
        if disk_image.find_mount() is None:
            with pytest.raises(HawseError, match="cannot enforce a limit of disk"):
                await hw.sandboxes.create("fixed", limits=limits)
            return
        async with hw.sandboxes.create("fixed", limits=limits) as box:
            enforcement = (await box.info()).enforcement
            assert enforcement is not None
            assert enforcement.limits.disk == 32 << 20
            assert await output(box, "ls -A; id -u; stat -c %u .; echo kept > file") == "1000\n1000"
            assert "No space left" in await output(box, "head -c 64M /dev/zero > large")
            assert 16 << 20 < int(await output(box, "stat -c %s large; rm large")) < 32 << 20
            await box.stop()
            assert list(paths.workspace.iterdir()) == [], "it is mounted for the sandbox only, while that runs"
            await box.wake()
            assert await output(box, "cat file") == "kept"
            (runtime,) = stack.runtimes("fixed")
            runtime.kill()
            await gone(runtime.pid)
            with suppress(hawse.OutcomeUnknownError):  # it was sent before the gateway had noticed it
                await box.exec("true")
            assert await output(box, "cat file") == "kept"
        disk_image.wait_until_released(paths.disk, 0)
        assert not paths.home.exists()


async def test_only_the_workspace_is_not_in_memory_or_read_only(box: Sandbox) -> None:
    mounts = await output(box, "cat /proc/self/mounts")
    latest = {line.split()[1]: line.split()[2:4] for line in mounts.splitlines()}  # a later mount covers an earlier one
    _, flags = latest.pop("/workspace")  # on a disk, or in memory if the tests' temporary folder is
    assert flags.startswith("rw")
    writable = {path for path, (kind, flags) in latest.items() if flags.startswith("rw") and kind != "tmpfs"}
    devices = {
        path for path in writable if path.startswith("/dev/") or await output(box, f"stat -c %F {path}") == DEVICE
    }
    assert writable - devices == {"/proc"}
    in_memory = [path for path, (kind, flags) in latest.items() if kind == "tmpfs" and flags.startswith("rw")]
    sizes = await output(box, f"df -B1 --output=size {' '.join(in_memory)} | tail -n +2")
    assert set(in_memory) == {"/run", "/tmp", "/var/tmp", "/dev/shm"}
    assert max(map(int, sizes.split())) <= 1 << 30
    for path in ("/x", "/usr/x", "/dev/x"):
        assert "Read-only file system" in await output(box, f"touch {path}")


async def test_no_private_keys_and_no_files_of_the_owner_are_there(stack: Stack, box: Sandbox) -> None:
    # Directories that lead to the installation exist.
    home = "" if ROOT.is_relative_to("/home") else "/home"
    found = await output(box, f"ls -d {stack.state} /etc/ssl/private /etc/shadow {home} /root/.ssh /var/lib | wc -l")
    assert found.splitlines()[-1] == "0"


async def test_a_state_directory_that_sandboxes_can_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bubblewrap, "bound", lambda: [tmp_path])
    options = ProviderOptions(state=StateDirectory(tmp_path / "state"), isolation="bubblewrap")
    with pytest.raises(StateError, match="which all sandboxes can read"):
        create_provider("local", options)


# ---- 9: nothing is left


@pytest.mark.parametrize("victim", ["runtime", "first", "bwrap"])
async def test_all_of_a_sandbox_ends_when_any_part_of_it_is_killed(stack: Stack, box: Sandbox, victim: str) -> None:
    """Including daemonized programs in separate sessions. The next call starts the sandbox again."""
    await box.exec("setsid sh -c 'sleep 1000 & sleep 1000' > /dev/null 2>&1 < /dev/null &")
    (runtime,) = stack.runtimes()
    outer = runtime.parent()
    assert outer is not None
    # The command's shell has ended, but its background programs may still be starting.
    await eventually(lambda: len(sleeping(outer)) >= 2)
    pids = [outer.pid, *(process.pid for process in outer.children(recursive=True))]
    monitor = outer.parent()
    assert monitor is not None
    os.kill({"runtime": runtime.pid, "first": outer.pid, "bwrap": monitor.pid}[victim], signal.SIGKILL)
    if victim == "bwrap":
        assert (await box.exec("echo on")).stdout == b"on\n"  # bwrap only waits for the sandbox
        os.kill(runtime.pid, signal.SIGKILL)
    await gone(*pids)
    with suppress(hawse.OutcomeUnknownError):  # it was sent before the gateway had noticed that the runtime has ended
        await box.exec("true")
    assert (await box.exec("echo again")).stdout == b"again\n"


# ---- what works as without isolation


async def test_pids_are_those_that_programs_see(box: Sandbox) -> None:
    process = await box.processes.start("echo $$; exec sleep 60")
    async with box.terminals.open("pids", argv=["sleep", "60"]), box.sessions.create("s") as session:
        terminal = (await box.call("terminal.get", {"id": "pids"}))["pid"]
        assert await output(box, f"cat /proc/{process.pid}/comm /proc/{terminal}/comm") == "sleep\nsleep"
        assert (await session.exec("echo $$")).stdout.split() == [str((await session.info()).pid).encode()]
    await process.kill()


async def test_a_terminal_has_its_device_and_job_control(box: Sandbox) -> None:
    async with box.terminals.open("jobs") as terminal:
        assert (await terminal.run("tty")).output.startswith(b"/dev/pts/")
        assert (await terminal.run("sleep 60 & kill %1; wait %1; echo $?")).output.endswith(b"143\r\n")


async def test_orphans_are_reaped(box: Sandbox) -> None:
    orphans = await output(box, "for n in 1 2 3 4 5; do (sleep 0.01 > /dev/null & echo $!); done")
    # Zombies count too: if one is never reaped, the command fails at its time limit.
    await output(box, f"for pid in {' '.join(orphans.split())}; do while [ -e /proc/$pid ]; do sleep 0.01; done; done")


async def test_git_and_watches_work(box: Sandbox) -> None:
    assert await output(box, "git init -q repo && cd repo && touch a && git add a && git status --short") == "A  a"
    status = await box.git.status("repo")
    assert [entry.path for entry in status.entries] == ["a"]


async def test_a_program_in_an_isolated_sandbox_asks_a_person(box: Sandbox) -> None:
    run = await box.exec("hawse-ask --secret 'the password'; exit $?", terminal=True)
    async with box.questions.watch() as watch:
        async for questions in watch:
            if questions and questions[-1].source == "program":
                break
    await box.questions.answer(questions[-1], "hunter2")
    run = await run.read()
    assert run.exit is not None
    assert (run.exit.code, run.text.split()[-1]) == (0, "hunter2")
