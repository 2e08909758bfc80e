"""A machine that is short of disk space, descriptors, memory or processes. Each shortage causes a typed error or a
documented degradation (docs/shortage.md), affects nothing else, and has no effect once it is over.
"""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

import hawse
from hawse.api.sandboxes import SandboxLimits
from hawse.client import Exit, Sandbox, TruncatedError
from hawse.wire import HawseError
from hawse_gateway.providers.isolation import cgroups
from tests.support.runtime import named
from tests.support.stack import Stack

TMPFS = "560m"  # size of the file system under the state directory: a sandbox starts only with 512 MiB free
WAIT = 30.0  # s after which a waiting test fails
SMALL = ("unshare", "-Urm", "sh", "-c", f'mount -t tmpfs -o size={TMPFS} tmpfs "$0" && exec "$@"')
NEEDED = 300  # descriptors that the test needs, with a limit of 256


# ---- disk


@pytest.fixture
async def small(tmp_path: Path) -> AsyncIterator[Stack]:
    """A gateway whose state directory, with workspace, recordings and spilled output, is a small file system."""
    state = tmp_path / "state"
    state.mkdir()
    async with Stack(state, under=(*SMALL, str(state))) as stack:
        yield stack


@contextmanager
def filled(stack: Stack, pid: int | None = None) -> Iterator[None]:
    """Fill the file system under the state directory. Space freed by later deletions stays free.

    Args:
        stack: The gateway, started by `small`.
        pid: A process that lives until the end; default: the gateway. The mount is visible only to it and its children.
    """
    path = f"/proc/{pid or stack.pid}/root{stack.state}/fill"
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    for size in (64 << 20, 1 << 20, 4096, 1):
        with suppress(OSError):
            while os.write(fd, bytes(size)):
                pass
    os.close(fd)
    try:
        yield
    finally:
        os.unlink(path)


async def works(sandbox: Sandbox) -> None:
    """Assert that commands, processes and terminals, which need no disk space, still work."""
    assert (await sandbox.exec("echo alive")).stdout == b"alive\n"
    async with sandbox.processes.start("cat", stdin=True) as process:
        await process.write(b"x")
        await process.end()
        assert [part async for part in process.stdout] == [b"x"]
    async with sandbox.terminals.open(argv=["sh", "-c", "exit 3"]) as terminal:
        assert (await terminal.wait()).code == 3
    async with sandbox.sessions.create() as session:
        assert (await session.exec("echo $((1+1))")).stdout == b"2\n"


async def test_a_full_disk_is_no_space_for_files_and_nothing_else_stops(small: Stack) -> None:
    async with hawse.connect(small.base, token=small.token) as hw:
        sandbox = hw.sandbox()
        await sandbox.files.write("kept", b"before")
        with filled(small):
            with pytest.raises(HawseError) as refused:
                await sandbox.files.write("kept", b"x" * 100_000)
            assert refused.value.code == "no_space"
            assert await sandbox.files.read("kept") == b"before"
            await works(sandbox)
        await sandbox.files.write("kept", b"x" * 100_000)
        assert await sandbox.files.read("kept") == b"x" * 100_000


async def test_a_sandbox_is_not_started_on_a_full_disk_and_is_afterwards(small: Stack) -> None:
    async with hawse.connect(small.base, token=small.token) as hw:
        with filled(small):
            with pytest.raises(HawseError) as refused:
                await hw.sandbox().exec("true")
            assert (refused.value.code, refused.value.retryable) == ("unavailable", True)
        await works(hw.sandbox())


async def test_a_recording_on_a_full_disk_ends_and_its_terminal_does_not(small: Stack) -> None:
    async with hawse.connect(small.base, token=small.token) as hw:
        sandbox = hw.sandbox()
        async with sandbox.terminals.open(argv=["cat"]) as terminal:
            recording = await terminal.record()
            with filled(small):
                await terminal.write(b"x" * 3000 + b"\n")
                async with asyncio.timeout(WAIT), sandbox.recordings.watch() as states:
                    async for state in states:
                        if not state:
                            break
                info = await recording.info()
                assert (info.state, info.reason, info.truncated) == ("finished", "no_space", True)
                with pytest.raises(HawseError) as refused:
                    await terminal.record()
                assert refused.value.code == "no_space"
                await works(sandbox)
            again = await terminal.record()
            assert (await again.stop()).reason == "stopped"
            assert (await recording.read()).endswith(b"\n")


async def test_output_that_does_not_fit_on_a_full_disk_is_a_declared_gap(small: Stack) -> None:
    async with hawse.connect(small.base, token=small.token) as hw:
        sandbox = hw.sandbox()
        await works(sandbox)
        with filled(small):
            exit_, kept, gaps = await flooded(sandbox)
            assert exit_.code == 0
            assert gaps
            assert kept.endswith(b"end\n")
            await works(sandbox)
        exit_, kept, gaps = await flooded(sandbox)
        assert exit_.code == 0
        assert (len(kept), gaps) == (FLOOD + 4, 0)


FLOOD = 9_000_000  # bytes: more than memory keeps, less than the small file system


async def flooded(sandbox: Sandbox) -> tuple[Exit, bytes, int]:
    """Run a program with a lot of output; return its exit, the kept output, and the number of gaps."""
    process = await sandbox.processes.start(["sh", "-c", f"head -c {FLOOD} /dev/zero; echo end"])
    process.close()
    async with asyncio.timeout(WAIT):
        exit_ = await (again := await sandbox.processes.attach(process.id, since={"stdout": 0, "stderr": 0})).wait()
        kept, gaps = b"", 0
        while True:
            try:
                kept += b"".join([part async for part in again.stdout])
                return exit_, kept, gaps
            except TruncatedError:
                gaps += 1


async def test_a_gateway_is_not_started_on_a_full_disk_and_finds_its_runtimes_afterwards(small: Stack) -> None:
    async with hawse.connect(small.base, token=small.token) as hw:
        await works(hw.sandbox())
        before = await hw.sandbox().runtime()
    (runtime,) = small.runtimes()
    same_mounts = ("nsenter", f"--target={runtime.pid}", "--user", "--mount", "--preserve-credentials")
    with filled(small, runtime.pid):
        await small.kill()
        with pytest.raises(RuntimeError, match="disk is full"):
            await Stack(small.state, under=same_mounts).start()
    async with (
        Stack(small.state, under=same_mounts) as stack,
        hawse.connect(stack.base, token=stack.token) as hw,
    ):
        assert (await hw.sandbox().runtime()).runtime == before.runtime
        await works(hw.sandbox())


# ---- descriptors


async def test_a_gateway_without_descriptors_refuses_clients_and_recovers(tmp_path: Path) -> None:
    async with Stack(tmp_path / "state", under=("prlimit", "--nofile=256", "--")) as stack:
        async with hawse.connect(stack.base, token=stack.token) as hw:
            sandbox = hw.sandbox()
            await works(sandbox)
            with ExitStack() as held:
                for _ in range(NEEDED):
                    with suppress(OSError):
                        held.enter_context(socket.create_connection(("127.0.0.1", stack.port), timeout=WAIT))
                await works(sandbox)  # existing connections are not affected
        async with hawse.connect(stack.base, token=stack.token) as hw:
            await works(hw.sandbox())


async def test_a_runtime_without_descriptors_refuses_work_with_limit_exceeded_and_recovers(tmp_path: Path) -> None:
    async with (
        Stack(tmp_path / "state", under=("prlimit", "--nofile=256", "--")) as stack,
        hawse.connect(stack.base, token=stack.token) as hw,
    ):
        sandbox = hw.sandbox()
        started, codes = [], set()
        for _ in range(NEEDED):
            try:
                started.append(await sandbox.processes.start(["sleep", "1000"]))
            except HawseError as error:
                codes.add(error.code)
                break
        assert codes == {"limit_exceeded"}
        assert len(started) > 20
        with pytest.raises(HawseError, match="limit_exceeded"):
            await sandbox.exec("true")
        assert (await sandbox.runtime()).processes == len(started)  # calls that need no descriptor work
        for process in started:
            await process.kill()
        await works(sandbox)


# ---- processes


async def test_a_thousand_processes_of_a_program_end_with_it(tmp_path: Path) -> None:
    async with Stack(tmp_path / "state") as stack, hawse.connect(stack.base, token=stack.token) as hw:
        sandbox = hw.sandbox()
        command = "i=0; while [ $i -lt 1000 ]; do sleep 1000 & i=$((i+1)); done; echo started; wait"
        async with sandbox.processes.start(["sh", "-c", command]) as process:
            await process.wait_for_log("started", timeout=WAIT)
            await works(sandbox)
            (runtime,) = stack.runtimes()
            assert len(runtime.children(recursive=True)) >= 1001
            await process.kill()
        assert named("sleep", runtime.children(recursive=True)) == []
        await works(sandbox)


# ---- memory


@pytest.mark.skipif(cgroups.find() is None, reason="no cgroup can be made here")
async def test_a_program_that_takes_all_memory_is_ended_and_nothing_else_of_its_sandbox(tmp_path: Path) -> None:
    async with (
        Stack(tmp_path / "state", isolation="bubblewrap") as stack,
        hawse.connect(stack.base, token=stack.token) as hw,
        hw.sandboxes.create("small", limits=SandboxLimits(memory=192 << 20)) as sandbox,
        asyncio.timeout(3 * WAIT),
    ):
        before = await sandbox.runtime()
        async with sandbox.terminals.open("cat", argv=["cat"]) as terminal, sandbox.sessions.create() as session:
            await session.exec("kept=value")
            await terminal.write(b"before\n")
            await terminal.expect("before")
            ended = await sandbox.exec(["python3", "-c", "len(bytearray(b'x') * (1 << 30))"], timeout=WAIT)
            assert (ended.code, ended.signal, ended.oom, ended.timed_out) == (None, "SIGKILL", True, False)
            await terminal.write(b"after\n")
            await terminal.expect("after")
            assert (await session.exec("echo $kept")).stdout == b"value\n"
            async with sandbox.terminals.open("cat") as again:  # the journal starts with the first byte
                await again.expect(r"before\s+before\s+after\s+after", since=0, echo=True)
        await works(sandbox)
        assert (await sandbox.runtime()).runtime == before.runtime


@pytest.mark.parametrize("folder", ["/tmp", "/dev/shm"])
@pytest.mark.skipif(cgroups.find() is None, reason="no cgroup can be made here")
async def test_a_program_whose_files_take_all_memory_is_ended_and_the_runtime_can_delete_them(
    tmp_path: Path, folder: str
) -> None:
    async with (
        Stack(tmp_path / "state", isolation="bubblewrap") as stack,
        hawse.connect(stack.base, token=stack.token) as hw,
        hw.sandboxes.create("small", limits=SandboxLimits(memory=128 << 20)) as sandbox,
        asyncio.timeout(3 * WAIT),
    ):
        ended = await sandbox.exec(f"head -c 200M /dev/zero > {folder}/large", timeout=WAIT)
        assert (ended.code, ended.signal, ended.oom) == (None, "SIGKILL", True)
        await sandbox.files.delete(f"{folder}/large")
        await works(sandbox)


@pytest.mark.skipif(cgroups.find() is None, reason="no cgroup can be made here")
async def test_code_that_takes_all_memory_ends_with_its_executor_and_other_contexts_keep_their_state(
    tmp_path: Path,
) -> None:
    async with (
        Stack(tmp_path / "state", "--code-pool", "size=0", isolation="bubblewrap") as stack,
        hawse.connect(stack.base, token=stack.token) as hw,
        hw.sandboxes.create("small", limits=SandboxLimits(memory=320 << 20)) as sandbox,
        asyncio.timeout(3 * WAIT),
    ):
        before = await sandbox.runtime()
        async with (
            sandbox.code.create("python") as greedy,
            sandbox.code.create("python") as other,
            sandbox.terminals.open("cat", argv=["cat"]) as terminal,
        ):
            assert (await other.run("kept = 41")).ok
            done = await greedy.run("print('begun', flush=True)\nlen(bytearray(b'x') * (1 << 30))")
            assert (done.status, done.stdout) == ("crashed", b"begun\n")
            assert done.exit is not None
            assert (done.exit.signal, done.exit.oom) == ("SIGKILL", True)
            with pytest.raises(HawseError, match="exited"):
                await greedy.run("1")
            assert (await other.run("kept + 1")).text == "42"
            await terminal.write(b"after\n")
            await terminal.expect("after")
            await greedy.restart()
            assert (await greedy.run("6 * 7")).text == "42"
        assert (await sandbox.runtime()).runtime == before.runtime


# ---- start-up files


@pytest.mark.parametrize(
    "text", ["sleep 1000", "exit 3", "echo noise; echo more >&2", "set -eu", "exec true", "return 1 2"]
)
@pytest.mark.asyncio(loop_scope="session")
async def test_start_up_files_of_shells_do_not_affect_commands(stack: Stack, tmp_path: Path, text: str) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        sandbox = hw.sandbox()
        home = tmp_path / "home"
        home.mkdir()
        for name in (".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv", ".inputrc"):
            (home / name).write_text(text + "\n")
        environment = {"HOME": str(home), "ENV": str(home / ".profile")}
        async with asyncio.timeout(WAIT):
            async with sandbox.sessions.create(env=environment) as session:
                assert (await session.exec("echo $((1+1))")).stdout == b"2\n"
            assert (await sandbox.exec("echo alive", env=environment)).stdout == b"alive\n"


@pytest.mark.asyncio(loop_scope="session")
async def test_a_terminal_whose_start_up_file_hangs_can_be_interrupted(stack: Stack, tmp_path: Path) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        home = tmp_path / "home"
        home.mkdir()
        (home / ".bashrc").write_text("echo hanging; sleep 1000\n")
        async with (
            asyncio.timeout(WAIT),
            hw.sandbox().terminals.open(argv=["bash"], env={"HOME": str(home)}) as terminal,
        ):
            await terminal.expect("hanging")
            # Retry like a person: bash waits for a child that received the signal between fork and exec and ignored it.
            interrupted = None
            while interrupted is None:
                await terminal.write(b"\x03")
                interrupted = (await terminal.wait_for(pattern=r"[#$] ", timeout=2)).match
            await terminal.write(b"echo a''live; exit\n")
            await terminal.expect("alive")
            assert (await terminal.wait()).code == 0
