"""The process as users start it: `hawse serve` in a child, its lines, its signals, and what outlives it."""

import asyncio
import contextlib
import json
import os
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Subprotocol

import hawse
from hawse.link.sockets import accepts_connections
from hawse_gateway.providers.base import SandboxSpec
from hawse_gateway.sandboxes import records
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.sandboxes.records import SandboxRecord
from hawse_gateway.sandboxes.table import PAGE_ROWS
from hawse_gateway.server import GatewayServer, isolation_report
from hawse_gateway.store.base import Row, StoreError
from hawse_gateway.store.clock import Clock
from tests.support.certificates import Authority
from tests.support.gateway import TOKEN, FakeRuntime, Gateway, RawSocket
from tests.support.http_clients import http_client
from tests.support.providers import ModelProvider
from tests.support.sockets import pid_behind
from tests.support.stack import free_port
from tests.support.stores import CountingStore
from tests.support.waiting import TIMEOUT

SERVE = [sys.executable, "-m", "hawse.cli", "serve"]


class Served:
    """A gateway in a process of its own."""

    def __init__(self, state: Path, *options: str, preexec: Any = None, **environment: str) -> None:
        self.state = state
        self.process = subprocess.Popen(
            [*SERVE, "--port", "0", "--state", str(state), *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | environment,
            preexec_fn=preexec,  # noqa: PLW1509
        )
        assert self.process.stdout is not None
        self.lines = [self.process.stdout.readline()]
        while self.lines[-1] and "://" not in self.lines[-1]:
            self.lines.append(self.process.stdout.readline())
        self.isolation, self.url = self.lines[0], self.lines[-1].strip()
        if self.url.startswith("{"):
            self.url = json.loads(self.url)["message"]
        parts = urlsplit(self.url)
        self.port = parts.port
        self.token = environment.get("HAWSE_TOKEN") or parse_qs(parts.fragment)["token"][0]

    def dial(self) -> Any:
        headers = {"Authorization": f"Bearer {self.token}"}
        url = f"ws://127.0.0.1:{self.port}/v1/connect"
        return connect(url, subprotocols=[Subprotocol("hawse.v1")], additional_headers=headers, proxy=None)

    def end(self, number: int = signal.SIGTERM) -> tuple[int, float, str]:
        """Exit code, seconds it took, stderr."""
        before = time.monotonic()
        self.process.send_signal(number)
        _, output = self.process.communicate(timeout=TIMEOUT)
        return self.process.returncode, time.monotonic() - before, output


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Any]:
    """Start gateways; they and their runtimes are ended."""
    started: list[Served] = []

    def start(*options: str, **more: Any) -> Served:
        started.append(Served(tmp_path / "s", *options, **more))
        return started[-1]

    yield start
    for one in started:
        with contextlib.suppress(ProcessLookupError):
            one.process.kill()
        one.process.communicate()
    for path in tmp_path.glob("s/sandboxes/*/runtime.sock"):
        if accepts_connections(path):
            os.kill(pid_behind(path), signal.SIGKILL)


async def call(ws: Any, ch: int, method: str, sandbox: str | None = "local") -> Any:
    message = {"type": "call", "ch": ch, "method": method} | ({"sandbox": sandbox} if sandbox else {})
    await ws.send(json.dumps(message))
    while (answer := json.loads(await ws.recv()))["type"] == "event":
        pass  # the call waits for the start of the sandbox
    return answer["value"]


async def hello(ws: Any) -> None:
    await ws.send(json.dumps({"type": "hello", "protocol": 1, "client": "test", "window": 65536}))
    assert json.loads(await ws.recv())["type"] == "welcome"


def refused(*options: str, **environment: str) -> str:
    run = subprocess.run(
        [*SERVE, *options], capture_output=True, text=True, check=False, env=os.environ | environment, timeout=TIMEOUT
    )
    assert run.returncode == 2
    assert "Traceback" not in run.stderr
    return run.stderr


async def test_after_sigkill_of_the_gateway_the_next_one_uses_the_same_runtime_and_token(served: Any) -> None:
    first = served()
    async with first.dial() as ws:
        await hello(ws)
        runtime = (await call(ws, 1, "runtime.info"))["runtime"]
        (sandbox,) = (await call(ws, 2, "sandbox.list", None))["sandboxes"]
        assert sandbox["state"] == "running"
        assert ("NOT isolated" in first.isolation) == (sandbox["isolation"] == "none")
        first.end(signal.SIGKILL)
    second = served()
    assert second.token == first.token
    async with second.dial() as ws:
        await hello(ws)
        assert (await call(ws, 1, "runtime.info"))["runtime"] == runtime


async def test_a_runtime_that_is_killed_interrupts_its_calls_and_the_next_starts_another(served: Any) -> None:
    gateway = served()
    async with gateway.dial() as ws:
        await hello(ws)
        runtime = (await call(ws, 1, "runtime.info"))["runtime"]
        params = {"argv": ["sleep", "60"]}
        await ws.send(json.dumps({"type": "call", "ch": 2, "method": "exec", "sandbox": "local", "params": params}))
        assert json.loads(await ws.recv())["name"] == "opened"
        os.kill(pid_behind(gateway.state / "sandboxes/local/runtime.sock"), signal.SIGKILL)
        error = json.loads(await ws.recv())
        assert (error["ch"], error["code"], error["admitted"]) == (2, "interrupted", "unknown")
        assert (await call(ws, 3, "runtime.info"))["runtime"] != runtime


async def test_sigterm_sends_goaway_to_clients_and_keeps_the_runtime(served: Any) -> None:
    gateway = served()
    async with gateway.dial() as ws:
        await hello(ws)
        await call(ws, 1, "runtime.info")
        ending = asyncio.get_running_loop().run_in_executor(None, gateway.end)
        goaway = json.loads(await ws.recv())
        assert (goaway["type"], goaway["retry_after"]) == ("goaway", 1.0)
        with pytest.raises(ConnectionClosed):
            await ws.recv()
        assert ws.close_code == 1012
        code, seconds, output = await ending
    assert (code, output) == (0, "")
    assert seconds < 3
    assert accepts_connections(gateway.state / "sandboxes/local/runtime.sock")


def test_sigint_ends_the_gateway_even_if_the_shell_ignored_it(served: Any) -> None:
    gateway = served(preexec=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    code, seconds, output = gateway.end(signal.SIGINT)
    assert (code, output) == (0, "")
    assert seconds < 3


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGQUIT])
def test_other_signals_that_end_a_process_shut_down_as_well(served: Any, number: signal.Signals) -> None:
    code, _, output = served().end(number)
    assert (code, output) == (0, "")


def test_sighup_stays_ignored_as_after_nohup(served: Any) -> None:
    gateway = served(preexec=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    gateway.process.send_signal(signal.SIGHUP)
    assert httpx.get(f"http://127.0.0.1:{gateway.port}/healthz", trust_env=False).status_code == 200
    code, _, output = gateway.end()
    assert (code, output) == (0, "")


def test_missing_isolation_is_reported_with_a_warning(served: Any) -> None:
    gateway = served("--isolation", "none")
    assert "NOT isolated" in gateway.isolation
    assert "can read the owner's token" in gateway.isolation
    assert ("root, which may do everything" in gateway.isolation) == (os.getuid() == 0)


def test_what_is_enforced_and_what_is_not_is_printed(served: Any) -> None:
    gateway = served("--isolation", "bubblewrap", "--network", "host")
    assert "reach the network of this machine" in gateway.isolation
    assert "sandboxes are isolated by bubblewrap" in gateway.isolation
    listed = dict(line.strip().split(": ", 1) for line in gateway.lines if "enforced: " in line)
    assert "a system call filter" in listed["enforced"]
    for limit in ("memory", "cpus", "processes", "disk"):  # which of them depends on the machine
        assert [name for name, text in listed.items() if f"limits of {limit}" in text] != []


async def test_a_sandbox_that_runs_with_weaker_isolation_is_reported_with_a_warning(served: Any) -> None:
    first = served("--isolation", "none")
    async with first.dial() as ws:
        await hello(ws)
        await call(ws, 1, "runtime.info")
    await asyncio.to_thread(first.end)
    with contextlib.closing(sqlite3.connect(first.state / "store.db")) as store, store:
        store.execute("""UPDATE rows SET value = CAST(replace(value, '"none"', '"bubblewrap"') AS BLOB)""")
    second = served("--isolation", "none")
    assert "is already running, with isolation: bubblewrap" in second.lines[1]


def test_the_limit_of_open_files_is_raised_for_the_maximum_of_connections(served: Any) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    gateway = served(preexec=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard)))
    soft, _ = resource.prlimit(gateway.process.pid, resource.RLIMIT_NOFILE)
    assert soft == min(hard, 1024 + 256 + 512 + 512 + 256 + 64)


async def test_the_token_of_the_environment_is_used_and_not_printed(served: Any) -> None:
    gateway = served(HAWSE_TOKEN="a+b/c d and 16 more")
    assert not (gateway.state / "token").exists()
    async with gateway.dial() as ws:
        await hello(ws)
    code, _, output = await asyncio.to_thread(gateway.end)
    assert code == 0
    assert [line for line in (*gateway.lines, output) if "token=" in line or "16 more" in line] == []


def test_the_lines_at_startup_have_the_format_of_the_log(served: Any) -> None:
    gateway = served("--log-format", "json", "--isolation", "none")
    first, *_, last = map(json.loads, gateway.lines)
    assert (first["level"], last["level"], last["logger"]) == ("warning", "info", "hawse_gateway")
    assert first["message"].startswith("! sandboxes are NOT isolated")
    assert last["message"].startswith(f"http://127.0.0.1:{gateway.port}/#token=")


def test_a_store_that_does_not_respond_is_reported_in_a_sentence(tmp_path: Path) -> None:
    url = f"redis://:a-password@127.0.0.1:{free_port()}/0"
    argv = [*SERVE, "--port", "0", "--state", str(tmp_path)]
    run = subprocess.run(
        argv, capture_output=True, text=True, check=False, env=os.environ | {"HAWSE_STORE": url}, timeout=TIMEOUT
    )
    assert (run.returncode, run.stdout) == (3, "")
    assert run.stderr.startswith("hawse: the store cannot be used: redis: ")
    assert len(run.stderr.splitlines()) == 1
    assert "a-password" not in run.stderr


async def test_verbose_or_not_no_token_is_logged(served: Any) -> None:
    gateway = served("-v")
    async with gateway.dial() as ws:
        await hello(ws)
        await call(ws, 1, "sandbox.list", None)
    code, _, output = await asyncio.to_thread(gateway.end)
    assert code == 0
    assert "connected" in output
    assert gateway.token not in output


async def test_a_gateway_with_a_certificate_serves_https_at_the_first_allowed_name(served: Any, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    chain, key = authority.issue("served")
    gateway = served("--tls-cert", str(chain), "--tls-key", str(key), "--allow-host", "localhost")
    assert gateway.url.startswith("https://localhost:")
    async with hawse.connect(gateway.url, ca=authority.path) as client:
        assert client.welcome is not None
        assert client.welcome.role == "owner"
    code, _, output = await asyncio.to_thread(gateway.end)
    assert (code, output) == (0, "")


def test_a_port_that_is_in_use_is_reported(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert f"port {port} on 127.0.0.1 is already in use" in refused("--port", port, "--state", str(tmp_path))


def test_other_addresses_than_loopback_require_an_explicit_token(tmp_path: Path) -> None:
    assert "--token or HAWSE_TOKEN" in refused("--host", "0.0.0.0", "--state", str(tmp_path))


def test_unusable_settings_are_reported(tmp_path: Path) -> None:
    bwrap = tmp_path / "programs/bwrap"
    bwrap.parent.mkdir()
    bwrap.symlink_to("/bin/false")
    assert "--isolation bubblewrap: bwrap ended with exit code 1" in refused(
        "--isolation", "bubblewrap", "--state", str(tmp_path), PATH=str(bwrap.parent)
    )
    assert "--tls-cert, --tls-key: /nonexistent: No such file" in refused(
        "--tls-cert", "/nonexistent", "--state", str(tmp_path), "--isolation", "none"
    )
    message = refused("--store", "redis+sentinel://:secret@sentinel", "--state", str(tmp_path))
    assert "--store: expected redis+sentinel://" in message
    assert "secret" not in message
    assert "cannot listen on" in refused(
        "--host", "203.0.113.1", "--token", "x" * 16, "--state", str(tmp_path), "--isolation", "none"
    )


async def test_a_client_that_does_not_read_does_not_delay_the_shutdown(runtime: FakeRuntime) -> None:
    async with Gateway(runtime) as gateway, RawSocket(gateway) as raw:
        await raw.hello()
        params = {"bytes": 1 << 30}
        await raw.text({"type": "call", "ch": 1, "method": "flood", "sandbox": "local", "params": params})
        await runtime.until(lambda: runtime.seen)
        gateway.server.begin_shutdown()
        async with asyncio.timeout(TIMEOUT):
            await gateway.task


async def test_a_second_signal_ends_the_gateway_without_waiting(gateway: Gateway) -> None:
    server: GatewayServer = gateway.server
    server.begin_shutdown()
    assert (server.should_exit, server.force_exit) == (True, False)
    server.begin_shutdown()
    assert server.force_exit
    async with asyncio.timeout(TIMEOUT):
        await gateway.task


@pytest.mark.parametrize(("proxies", "status"), [(["127.0.0.0/8"], 201), (["10.0.0.1"], 403), ([], 403)])
async def test_only_a_trusted_proxy_can_report_that_a_request_came_by_https(
    runtime: FakeRuntime, proxies: list[str], status: int
) -> None:
    async with Gateway(runtime, proxies=proxies) as gateway:
        headers = {"Origin": f"https://127.0.0.1:{gateway.port}", "X-Forwarded-Proto": "https"}
        async with http_client() as http:
            authorized = headers | {"Authorization": f"Bearer {TOKEN}"}
            answer = await http.post(f"{gateway.url}/v1/tickets", headers=authorized)
        assert answer.status_code == status
        request = gateway.dial(headers=headers)
        if status == 201:
            async with request as ws:
                await hello(ws)
        else:
            with pytest.raises(InvalidStatus):
                await request


async def test_the_headers_that_proxies_set_are_read_and_the_others_are_not(runtime: FakeRuntime) -> None:
    async with Gateway(runtime, proxies=["127.0.0.1"], proxy_headers="forwarded") as gateway:
        own = {"Origin": f"https://127.0.0.1:{gateway.port}", "Authorization": f"Bearer {TOKEN}"}
        async with http_client(headers=own) as http:
            for headers, status in (
                ({"X-Forwarded-Proto": "https"}, 403),
                ({"Forwarded": "for=192.0.2.1;proto=https"}, 201),
            ):
                assert (await http.post(f"{gateway.url}/v1/tickets", headers=headers)).status_code == status


class Unreadable(CountingStore):
    """Reads of several rows fail while `broken` is set."""

    broken = False

    async def get_many(self, table: str, keys: Sequence[str]) -> Mapping[str, Row]:
        if self.broken:
            raise StoreError("the server is away")
        return await super().get_many(table, keys)


async def test_the_isolation_report_examines_one_page_and_survives_an_unavailable_store(tmp_path: Path) -> None:
    store = Unreadable(tmp_path / "store.db")
    given: dict[str, Any] = {"provider": "model", "spec": SandboxSpec(), "generation": "g", "created": Clock().now()}
    names = [f"s{number:03}" for number in range(2 * PAGE_ROWS)]
    await store.write(*(records.new(SandboxRecord(id=id, unit=id, wanted="stopped", **given)) for id in names))
    sandboxes = Sandboxes(store, {"model": ModelProvider()}, sweep=3600)
    async with sandboxes.running():
        await sandboxes.sweep()
        await sandboxes.index.current(runs=True)
        before = store.read
        assert (await isolation_report(sandboxes))[-1] == (
            f"  the isolation of {PAGE_ROWS + 1} more sandboxes was not checked"
        )
        assert store.read - before < 3 * PAGE_ROWS, "one page of sandboxes and runs"
        store.broken = True
        last = (await isolation_report(sandboxes))[-1]
        assert last.startswith("! the isolation of running sandboxes is unknown: ")
        assert "the server is away" in last
