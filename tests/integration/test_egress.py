"""Filtered networks in bubblewrap and in containers: allowed and blocked access, and places without secrets."""

import asyncio
import io
import json
import os
import signal
import sys
import zipfile
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import psutil
import pytest
from websockets.asyncio.server import ServerConnection, serve

import hawse
from hawse.client import Client, EgressPolicy, EgressRequest
from hawse.wire import HawseError
from tests.support import docker
from tests.support.docker_stack import DockerStack
from tests.support.echo_server import EchoServer
from tests.support.filtered import DOCKER, LOCAL, SECRET, SERVERS, Kind, World, made, output
from tests.support.git_server import GitServer
from tests.support.runtime import eventually
from tests.support.stack import Stack

PROBE = Path(__file__).with_name("egress_probe.py")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with made(tmp_path) as world:
        yield world


@pytest.fixture(params=[LOCAL, pytest.param(DOCKER, marks=docker.needs_engine)], ids=lambda kind: kind.provider)
def kind(request: pytest.FixtureRequest) -> Kind:
    found: Kind = request.param
    return found


@pytest.fixture
async def stack(world: World, kind: Kind) -> AsyncIterator[Stack]:
    async with kind.stack(world) as stack:
        yield stack


@pytest.fixture
async def hw(stack: Stack) -> AsyncIterator[Client]:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        yield hw


STRICT = EgressPolicy(
    allow=["api.test:*", "plain.test:*", "closed.test:1", "inside.test:*", "meta.test:*"], secrets=["api"]
)
WIDE = EgressPolicy(allow=["*:*"], deny=["closed.test:*"])


@pytest.mark.parametrize("policy", [STRICT, WIDE])
async def test_nothing_else_can_be_reached(
    world: World, kind: Kind, stack: Stack, hw: Client, policy: EgressPolicy
) -> None:
    box = await hw.sandboxes.create(network="filtered", egress=policy)
    known = {
        "trap": world.traps.port,
        "api": world.api.port,
        "plain": world.plain.port,
        "gateway": stack.port,
        "lan": world.traps.lan,
        "unix": world.traps.path,
        "abstract": world.traps.abstract,
        "handover": kind.handover,
    }
    await box.files.write("probe.py", PROBE.read_bytes())
    result = await box.exec(["python3", "probe.py", json.dumps(known)], timeout=150)
    assert result.ok, bytes(result.stderr).decode()
    outcomes: dict[str, str] = json.loads(bytes(result.stdout))
    assert len(outcomes) > 90
    assert [name for name, outcome in outcomes.items() if outcome == "TRAP"] == []
    assert world.traps.reached == []
    assert outcomes["another_host_in_a_tunnel"].startswith("None") or "mismatch" in outcomes["another_host_in_a_tunnel"]
    assert SECRET not in bytes(result.stdout).decode()
    works = await output(
        box, f"curl -sS https://api.test:{world.api.port}/ && curl -sS http://plain.test:{world.plain.port}/"
    )
    assert works.count('"method": "GET"') == 2, works


def memory(pid: int) -> Iterator[bytes]:
    """Yield the memory of a process."""
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as mem:
        for line in maps:
            edges, rights = line.split()[:2]
            start, end = (int(edge, 16) for edge in edges.split("-"))
            if rights.startswith("r"):
                with suppress(OSError, ValueError, OverflowError):
                    mem.seek(start)
                    yield mem.read(end - start)


def processes_of(stack: Stack, box: str) -> list[psutil.Process]:
    """Return the processes of a running sandbox, including its runtime."""
    if isinstance(stack, DockerStack):
        return stack.processes(box)
    return stack.runtimes(box)


async def test_a_secret_is_nowhere_in_the_sandbox(world: World, kind: Kind, stack: Stack, hw: Client) -> None:
    box = await hw.sandboxes.create("box", network="filtered", egress=STRICT)
    program = f"""
import time, urllib.request
kept = [urllib.request.urlopen("https://api.test:{world.api.port}/").read() for _ in range(3)]
open("answer", "wb").write(kept[0])
print("READY", flush=True)
time.sleep(600)
"""
    process = await box.processes.start(["python3", "-c", program])
    await process.wait_for_log("READY")
    assert [["x-key", SECRET] in request["headers"] for request in world.api.seen] == [True] * 3
    assert ["x-key", "*" * len(SECRET)] in json.loads(await box.files.read_text("answer"))["headers"]
    needle = SECRET.encode()
    inside = processes_of(stack, "box")[-1]
    namespace = os.readlink(f"/proc/{inside.pid}/ns/net")
    looked = []
    for each in psutil.process_iter():
        with suppress(PermissionError, FileNotFoundError, psutil.AccessDenied, psutil.NoSuchProcess):
            if os.readlink(f"/proc/{each.pid}/ns/net") == namespace:
                assert needle not in repr(each.environ()).encode()
                assert not any(needle in part for part in memory(each.pid))
                looked.append(each.name())
    assert "python3" in looked
    assert os.getuid() != 0 or len(looked) > 1, "the runtime, too"
    root = Path(f"/proc/{inside.pid}/root")
    folders = [*(root / folder for folder in kind.folders), stack.state / "sandboxes" / "box"]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    assert {"answer", "hawse-certificates.pem", "ca.key"} <= {path.name for path in files}
    assert [path for path in files if needle in path.read_bytes()] == []
    assert SECRET not in repr(await hw.sandboxes.list())
    assert not any(SECRET in line for line in stack.printed)


async def test_git_curl_pip_and_npm_work(world: World, kind: Kind, hw: Client) -> None:
    wheel = _wheel()

    def index(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> bool:
        port = handler.connection.getsockname()[1]
        answers = {
            "/simple/parcel/": b'<a href="/files/parcel-1.0-py3-none-any.whl">parcel-1.0-py3-none-any.whl</a>',
            "/files/parcel-1.0-py3-none-any.whl": wheel,
            "/parcel": json.dumps(_package(f"https://index.test:{port}/parcel.tgz")).encode(),
        }
        content = answers.get(request["target"])
        handler.send_response(404 if content is None else 200)
        handler.send_header("Content-Type", "text/html" if "simple" in request["target"] else "application/json")
        handler.send_header("Content-Length", str(len(content or b"")))
        handler.end_headers()
        handler.wfile.write(content or b"")
        return True

    with (
        EchoServer(world.trusted, "index.test", index, SERVERS) as packages,
        GitServer(world.folder / "git", credentials=("ann", SECRET)) as server,
    ):
        server.create("project", {"README": "hello"})
        context = world.trusted.context("git.test")
        serve = _forward_to(server.url("project"))
        terminated = await asyncio.start_server(serve, SERVERS, 0, ssl=context)
        port = terminated.sockets[0].getsockname()[1]
        policy = EgressPolicy(allow=["git.test:*", "index.test:*"], secrets=["git"])
        box = await hw.sandboxes.create(network="filtered", egress=policy)
        commands = f"""
set -e
git clone -q https://git.test:{port}{_path(server.url("project"))} work
cd work
git config user.name Ann; git config user.email ann@git.test
echo more >README; git commit -qam more; git push -q; git log --oneline origin/HEAD | wc -l
export PIP_INDEX_URL=https://index.test:{packages.port}/simple PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
{kind.python} -m pip download -q parcel
ls *.whl
"""
        expected = ["2", "parcel-1.0-py3-none-any.whl"]
        if kind is LOCAL:  # the image has no npm
            commands += f"npm view --registry https://index.test:{packages.port} parcel version\n"
            expected.append("1.0.0")
        printed = await output(box, commands)
        assert printed.split() == expected, printed
        terminated.close()


def _path(url: str) -> str:
    return "/" + url.split("/", 3)[3]


def _forward_to(url: str) -> Any:
    """Return a handler that forwards a connection to the server of a URL."""
    host, _, port = url.split("/")[2].rpartition(":")

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_connection(host, int(port))
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(pump(reader, inner_writer))
            tasks.create_task(pump(inner_reader, writer))

    return serve


def _wheel() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("parcel.py", "x = 1\n")
        archive.writestr("parcel-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: parcel\nVersion: 1.0\n")
        archive.writestr("parcel-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("parcel-1.0.dist-info/RECORD", "")
    return file.getvalue()


def _package(tarball: str) -> dict[str, Any]:
    version = {"name": "parcel", "version": "1.0.0", "dist": {"tarball": tarball, "shasum": "0" * 40}}
    return {"name": "parcel", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}


async def test_a_proxy_outlives_the_gateway_is_replaced_and_ends_with_its_sandbox(
    world: World, stack: Stack, hw: Client
) -> None:
    box = await hw.sandboxes.create("box", network="filtered", egress=STRICT)
    info = await box.info()
    assert (info.network, info.egress) == ("filtered", STRICT)
    fetch = f"curl -sS https://api.test:{world.api.port}/"
    assert '"GET"' in await output(box, fetch)
    first = _proxy(stack)
    await stack.kill()
    assert first.is_running()
    await stack.start()
    async with hawse.connect(stack.base, token=stack.token) as again:
        box = again.sandbox("box")
        assert '"GET"' in await output(box, fetch)
        assert _proxy(stack) == first
        os.kill(first.pid, signal.SIGKILL)
        assert '"GET"' in await output(box, fetch)  # waits for the next proxy, which trusts the same authority
        second = _proxy(stack)
        assert second != first
        await box.stop()
        await eventually(lambda: not second.is_running())
        await box.wake()
        assert '"GET"' in await output(box, fetch)
        third = _proxy(stack)
        await box.delete()
        await eventually(lambda: not third.is_running())


def _proxy(stack: Stack) -> psutil.Process:
    return psutil.Process(int((stack.state / "sandboxes" / "box" / "egress" / "process").read_text().split()[0]))


@pytest.mark.parametrize("kind", [LOCAL], indirect=True)  # providers are not involved
async def test_policies_that_are_not_valid_are_refused(hw: Client) -> None:
    for policy, network in ((EgressPolicy(allow=["a..b"]), "filtered"), (STRICT, "private")):
        with pytest.raises(HawseError) as caught:
            await hw.sandboxes.create(network=network, egress=policy)  # type: ignore[arg-type]
        assert caught.value.code == "invalid_params"
    with pytest.raises(HawseError, match="no secret 'unknown'"):
        await hw.sandboxes.create(network="filtered", egress=EgressPolicy(secrets=["unknown"]))


async def test_without_rules_nothing_is_reached_and_each_refusal_is_audited(
    world: World, stack: Stack, hw: Client
) -> None:
    box = await hw.sandboxes.create("none", network="filtered")
    assert "403" in await output(box, f"curl -sS https://api.test:{world.api.port}/")
    assert world.api.seen == []
    await stack.kill()
    await stack.start()
    async with hawse.connect(stack.base, token=stack.token) as again:
        await output(again.sandbox("none"), "curl -sS http://127.0.0.1:1/ -x http://127.0.0.1:3128 --noproxy x")
        seen: list[tuple[str, str | None, str, str]] = []
        async with asyncio.timeout(30):
            while len(seen) < 2:
                entries = await again.audit.list(method="egress")
                seen = [(each.outcome, each.sandbox, each.on["host"], each.on["method"]) for each in entries]
                await asyncio.sleep(0.05)
    assert seen == [("rule", "none", "127.0.0.1", "GET"), ("rule", "none", "api.test", "CONNECT")]


async def test_rules_are_changed_while_the_sandbox_runs(world: World, hw: Client) -> None:
    box = await hw.sandboxes.create(network="filtered", egress=EgressPolicy(allow=["api.test:*"]))
    fetch = f"curl -sS https://api.test:{world.api.port}/"
    other = f"curl -sS http://plain.test:{world.plain.port}/"
    async with box.egress.watch(allowed=True) as requests:
        assert '"GET"' in await output(box, fetch)
        assert "is not allowed" in await output(box, other)
        found = aiter(requests)
        seen = [await anext(found), await anext(found)]
        assert [(each.allowed, each.host, each.reason) for each in seen if isinstance(each, EgressRequest)] == [
            (True, "api.test", None),
            (False, "plain.test", "rule"),
        ]
        info = await box.egress.set(["GET plain.test:*"])
        assert (info.allow, info.running, info.requests, info.refused) == (["GET plain.test:*"], True, 1, 1)
        assert [each.host for each in info.recent] == ["plain.test"]
        assert "403" in await output(box, fetch)
        assert '"GET"' in await output(box, other)
        assert (await box.info()).egress == EgressPolicy(allow=["GET plain.test:*"])
    (entry,) = await hw.audit.list(method="egress.set")
    assert (entry.on["allow"], entry.outcome, entry.on["id"]) == ("GET plain.test:*", "ok", box.id)
    await box.stop()
    assert not (await box.egress.set(["api.test:*"])).running
    await box.wake()
    assert '"GET"' in await output(box, fetch)


WEBSOCKET = """
import asyncio, ssl, sys, websockets
async def main():
    async with websockets.connect(sys.argv[1]) as connection:
        await connection.send("hello")
        print(await connection.recv(), flush=True)
        try:
            print(await connection.recv())
        except websockets.ConnectionClosed:
            print("closed")
asyncio.run(main())
"""


async def test_a_websocket_works_until_the_rules_change(world: World, kind: Kind, hw: Client) -> None:
    async def echo(connection: ServerConnection) -> None:
        async for message in connection:
            await connection.send(message)

    async with serve(echo, SERVERS, 0, ssl=world.trusted.context("api.test")) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        box = await hw.sandboxes.create(network="filtered", egress=EgressPolicy(allow=["api.test:*"]))
        await box.files.write("ws.py", WEBSOCKET.encode())
        process = await box.processes.start([kind.python, "ws.py", f"wss://api.test:{port}/"])
        await process.wait_for_log("hello")
        await box.egress.set(["GET api.test:*"])
        await process.wait_for_log("closed")


async def test_a_user_that_loses_a_secret_loses_it_in_sandboxes_that_run(
    world: World, stack: Stack, hw: Client
) -> None:
    with_users = world.settings.read_text().replace("[secrets.api]", '[secrets.api]\nusers = ["ann"]')
    world.settings.write_text(with_users)
    await stack.kill()
    await stack.start()
    fetch = f"curl -sS https://api.test:{world.api.port}/"
    async with hawse.connect(stack.base, token=stack.token) as owner:
        token = (await owner.tokens.create("operator", user="ann")).token
        async with hawse.connect(stack.base, token=token) as ann:
            policy = EgressPolicy(allow=["api.test:*"], secrets=["api"])
            box = await ann.sandboxes.create(network="filtered", egress=policy)
            assert "****" in await output(box, fetch)
            assert (await box.egress.get()).secrets == ["api"]
    world.settings.write_text(with_users.replace("ann", "bob"))
    await stack.kill()
    await stack.start()
    async with hawse.connect(stack.base, token=stack.token) as again:
        box = again.sandbox(box.id)
        async with asyncio.timeout(60):
            while "****" in await output(box, fetch):
                pass
        info = await box.egress.get()
        assert (info.secrets, info.withheld) == ([], ["api"])


@pytest.mark.parametrize("kind", [LOCAL], indirect=True)  # the tests above call its methods with each provider
async def test_hawse_egress_shows_and_changes_the_rules(stack: Stack, hw: Client) -> None:
    box = await hw.sandboxes.create("cli", network="filtered", egress=EgressPolicy(allow=["api.test"]))
    await output(box, "curl -sS http://evil.test/")

    async def cli(*arguments: str) -> str:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "hawse.cli", *arguments, "-s", "cli"),
            env={**os.environ, "HAWSE_URL": stack.base, "HAWSE_TOKEN": stack.token},
            stdout=asyncio.subprocess.PIPE,
        )
        printed, _ = await process.communicate()
        assert process.returncode == 0
        return printed.decode()

    shown = await cli("egress", "show")
    assert "allow    api.test" in shown
    assert "rule" in shown.splitlines()[-1]
    assert shown.splitlines()[-1].endswith("evil.test:80")
    assert "allow    evil.test" in await cli("egress", "set", "--allow", "evil.test", "--deny", "api.test")
    assert (await box.egress.get()).deny == ["api.test"]
