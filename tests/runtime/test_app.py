"""The whole runtime: its information and metrics, and that it releases all resources."""

import asyncio
import math
import os
import resource
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hawse.api import METHODS
from hawse.api.processes import ProcessStart
from hawse.wire import HawseError
from hawse_runtime.posix.stale_processes import ID_FILE
from tests.support.client import eventually
from tests.support.runtime import Client, Served, alive
from tests.support.stack import free_port
from tests.support.waiting import TIMEOUT, lines

ROOT = Path(__file__).resolve().parents[2]


async def test_info_describes_the_runtime_and_counts_its_resources(served: Served, client: Client) -> None:
    info = await client.info()
    assert info["runtime"] == served.runtime.id
    assert info["pid"] == os.getpid()
    assert (info["terminals"], info["processes"]) == (0, 0)
    await client.terminal("exec sleep 60")
    client.execute("exec sleep 60")
    info = await client.info()
    assert (info["terminals"], info["processes"]) == (1, 1)
    assert info["open_fds"] > 5
    assert info["memory"] > 1 << 20


async def test_it_serves_the_methods_that_are_declared_as_they_are(served: Served) -> None:
    assert served.runtime.server.dispatcher.methods == METHODS


async def test_a_program_that_was_asked_for_is_started_at_the_beginning(tmp_path: Path) -> None:
    env: dict[str, str | None] = {"A": "1", "OUT": str(tmp_path / "output")}
    command = ProcessStart(id="image", argv=["sh", "-c", "(pwd; echo $A) > $OUT; exec sleep 60"], cwd="/", env=env)
    async with Served(tmp_path, command=command) as served, served.client() as client:
        (found,) = (await client.ask("process.list"))["processes"]
        assert found["id"] == "image"
        output = tmp_path / "output"
        await eventually(lambda: output.exists() and output.read_text() == "/\n1\n")  # a file without an event


async def test_a_runtime_serves_also_if_the_program_cannot_be_started(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with Served(tmp_path, command=ProcessStart(argv=["/no/such/program"])) as served, served.client() as client:
        assert (await client.info())["processes"] == 0
    assert "cannot start the image's command" in caplog.text


async def test_each_incarnation_has_its_own_id(tmp_path: Path) -> None:
    ids = []
    for _ in range(2):
        async with Served(tmp_path) as served:
            ids.append(served.runtime.id)
    assert ids[0] != ids[1]


async def settled(client: Client, served: Served, fds: float = math.inf) -> Any:
    """Return its resources once everything temporary has ended and at most `fds` descriptors are open.

    Polls: processes are reaped, tasks end and descriptors are closed without an event.
    """
    async with asyncio.timeout(TIMEOUT):
        while True:
            info = await client.info()
            if not served.started_children() and info["tasks"] <= 4 and info["open_fds"] <= fds:
                return info
            await asyncio.sleep(0.005)


async def test_300_terminals_leave_nothing(client: Client, served: Served) -> None:
    served.runtime.screens.warm_up()
    await (await client.terminal("exit", "warm-up")).result()
    before = await settled(client, served)
    for batch in range(10):
        shells = [await client.terminal("echo $$; exit 3", f"t{batch}-{n}") for n in range(30)]
        for shell in shells:
            assert (await shell.result())["exit"]["code"] == 3
            assert bytes(shell.output).strip().isdigit()
    after = await settled(client, served, before["open_fds"])
    assert after["open_fds"] == before["open_fds"]
    assert after["tasks"] == before["tasks"]
    assert after["terminals"] <= 64 + 1


async def test_1000_execs_leave_nothing(client: Client, served: Served) -> None:
    await client.execute("true").result()
    before = await settled(client, served)
    for batch in range(20):
        calls = [client.execute(f"echo {batch}-{n}", key=f"{batch}-{n}" if n % 2 else None) for n in range(50)]
        for n, call in enumerate(calls):
            assert (await call.result())["code"] == 0
            assert bytes(call.output) == f"{batch}-{n}\n".encode()
    after = await settled(client, served, before["open_fds"])
    assert after["open_fds"] == before["open_fds"]
    assert after["tasks"] == before["tasks"]
    assert after["processes"] == 0


async def test_at_its_end_all_that_runs_is_ended(tmp_path: Path) -> None:
    async with Served(tmp_path) as served:  # noqa: SIM117
        async with served.client() as client:
            shell = await client.terminal("trap '' HUP; echo $$; while :; do sleep 60; done")
            await shell.until(lambda: b"\n" in shell.output)
            run = client.execute("trap '' TERM; echo $$; while :; do sleep 60; done", key="k")
            await run.until(lambda: b"\n" in run.output)
            started = await client.ask("process.start", command="exec sleep 60")
            upload = client.call("file.write", {"path": "up", "input": "i"}, key="u")
            await upload.type(b"half")
            pids = [int(shell.output), int(run.output), started["pid"]]
            assert all(map(alive, pids))
    assert not any(map(alive, pids))
    assert list(served.workspace.iterdir()) == []


async def test_kills_time_outs_and_port_look_ups_do_not_wait_for_the_disk(client: Client, served: Served) -> None:
    """H2: they took 4 s behind six disk jobs of 4 s, in the threads of the loop's default executor."""
    go = threading.Event()
    loop, disk = asyncio.get_running_loop(), served.runtime.pools.disk
    slow = [loop.run_in_executor(None, go.wait, 60) for _ in range(64)]
    slow += [disk.submit(lambda: go.wait(60)) for _ in range(2 * disk.threads)]
    try:
        await client.ask("terminal.create", id="t", argv=["sleep", "60"])
        await client.ask("process.start", id="p", command="sleep 60")
        await client.ask("terminal.kill", id="t")
        await client.ask("process.kill", id="p")
        assert (await client.execute("sleep 60", timeout=0.01).result())["code"] == 124
        assert await client.ask("port.list") == {"ports": []}
    finally:
        go.set()
        await asyncio.gather(*slow)


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="hawse-") as folder:
        yield Path(folder)


def owner(path: str) -> int:
    return os.stat(path).st_uid


class Program:
    """`python -m hawse_runtime`, as a gateway starts it."""

    def __init__(self, *arguments: str, **env: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hawse_runtime", *arguments],
            cwd=ROOT,
            env={**os.environ, **env},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    async def ends(self) -> int:
        return await asyncio.to_thread(self.process.wait, 20)


async def test_it_serves_a_socket_that_only_its_user_may_open_until_term(folder: Path) -> None:
    path = folder / "s"
    bind(path)  # left by one that was killed
    with Program("--socket", str(path), "--workspace", str(folder / "w")) as program:
        async with await Client().connect(path) as client:
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            shell = await client.terminal("echo $$; exec sleep 60")
            await shell.until(lambda: b"\n" in shell.output)
            program.process.send_signal(signal.SIGTERM)
            assert await program.ends() == 0
        assert not alive(int(shell.output))
    assert not path.exists()


async def test_the_processes_of_a_killed_runtime_are_ended_by_the_next(folder: Path) -> None:
    """A regression (S3): such processes ran for ever and were in no list."""
    arguments = ("--socket", str(folder / "s"), "--workspace", str(folder / "w"))
    with Program(*arguments) as first:
        async with await Client().connect(folder / "s") as client:
            script = "trap '' TERM HUP; echo $$ > pid; while :; do sleep 60; done"
            await client.ask("process.start", command=script)
            await lines(folder / "w/pid")
            first.process.kill()
            await first.ends()
    left = int((folder / "w/pid").read_text())
    assert alive(left)
    with Program(*arguments) as second:
        async with await Client().connect(folder / "s") as client:
            assert (await client.info())["processes"] == 0
            assert not alive(left)
        second.process.terminate()
        assert await second.ends() == 0
    assert not (folder / ID_FILE).exists()


async def test_without_free_descriptors_calls_are_refused_with_limit_exceeded(folder: Path) -> None:
    """W8. The connection stays, and what is freed can be used again."""
    with Program("--socket", str(folder / "s"), "--workspace", str(folder)) as program:
        async with await Client().connect(folder / "s") as client:
            (folder / "file").touch()
            await client.ask("file.list", path=".")  # loads what it needs
            used = (await client.info())["open_fds"]
            resource.prlimit(program.process.pid, resource.RLIMIT_NOFILE, (used + 8, used + 8))
            with pytest.raises(HawseError) as refused:
                for number in range(8):
                    await client.ask("terminal.create", id=f"t{number}", argv=["sleep", "60"])
            resource.prlimit(program.process.pid, resource.RLIMIT_NOFILE, (4, used + 8))
            codes = {"": refused.value.code}
            for method, params in (
                ("terminal.create", {"argv": ["true"]}),
                ("exec", {"command": "true"}),
                ("process.start", {"command": "true"}),
                ("session.create", {}),
                ("file.list", {"path": "."}),
                ("file.read", {"path": "file"}),
                ("file.write", {"path": "new", "input": "i"}),
                ("watch.start", {"path": "."}),
                ("git.status", {"path": "."}),
                ("port.list", {}),
            ):
                codes[method] = (await client.refused(method, params)).code
            assert set(codes.values()) == {"limit_exceeded"}, codes
            resource.prlimit(program.process.pid, resource.RLIMIT_NOFILE, (used + 8, used + 8))
            await client.ask("terminal.kill", id="t0")
            assert (await client.ask("terminal.create", id="again", argv=["sleep", "60"]))["created"]


async def test_a_second_runtime_of_a_socket_is_refused_and_the_first_stays(folder: Path) -> None:
    arguments = ("--socket", str(folder / "s"), "--workspace", str(folder))
    with Program(*arguments) as first:
        async with await Client().connect(folder / "s"):
            with Program(*arguments) as second:
                assert await second.ends() == 3
        async with await Client().connect(folder / "s") as client:
            assert (await client.info())["pid"] == first.process.pid


async def test_its_token_is_nowhere_to_be_found(folder: Path) -> None:
    token = "t0ken-of-the-runtime"
    with Program("--socket", str(folder / "s"), "--workspace", str(folder), HAWSE_RUNTIME_TOKEN=token) as program:
        async with await Client().connect(folder / "s", token=token) as client:
            run = client.execute(f"env; cat /proc/{program.process.pid}/status")
            await run.result()
            assert token.encode() not in run.output
            # Root reads everything; for other users the owner of a process that must not be dumped is root.
            assert owner(f"/proc/{program.process.pid}/environ") == 0
        program.process.terminate()
        assert await program.ends() == 0


async def test_tcp_needs_a_token(folder: Path) -> None:
    with Program("--listen", "127.0.0.1:0", "--workspace", str(folder)) as program:
        assert await program.ends() == 2
    with Program("--listen", "nowhere", "--workspace", str(folder)) as program:
        assert await program.ends() == 2


async def test_tcp_clients_are_served_only_with_the_token(folder: Path) -> None:
    port = free_port()
    arguments = ("--listen", f"127.0.0.1:{port}", "--workspace", str(folder))
    with Program(*arguments, HAWSE_RUNTIME_TOKEN="s3cret"):
        client = Client()
        client.connection.send_hello("test", "s3cret")
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(20):
            while not client.welcome:
                try:
                    await loop.create_connection(lambda: client.link, "127.0.0.1", port)
                    await client.until(lambda: client.welcome)
                except ConnectionRefusedError:
                    await asyncio.sleep(0.02)  # another process reports by no event that it listens
        async with client:
            assert (await client.info())["terminals"] == 0


def bind(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
