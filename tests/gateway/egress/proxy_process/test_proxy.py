"""The proxy process, started as by the gateway, with a socket in place of the runtime's."""

import json
import os
import select
import signal
import socket
import ssl
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from hawse.api.egress import EgressPolicy
from hawse_gateway.egress.certificates import new_authority
from hawse_gateway.egress.control import REQUEST_MAX
from hawse_gateway.egress.plan import CERTIFICATE_NAME, CONTROL_NAME, KEY_NAME, READY, SOCKET_NAME, EgressPlan, Terms
from hawse_gateway.egress.proxy_process.proxy import ALREADY_RUNNING, open_authority
from hawse_gateway.egress.refusals import Answer, Ask
from tests.support.echo_server import EchoServer


class Process:
    """A proxy. `lend` does what a runtime does."""

    def __init__(self, folder: Path, **known: object) -> None:
        self.folder = folder / "own"
        self.folder.mkdir(exist_ok=True)
        self.socket = folder / SOCKET_NAME
        policy = EgressPolicy(allow=["plain.test:*"])
        plan = EgressPlan(
            folder=str(self.folder),
            socket=str(self.socket),
            terms=Terms(policy=policy, networks=["127.0.0.0/8"], addresses={"plain.test": "127.0.0.1"}),
            **known,  # type: ignore[arg-type]
        )
        argv = [sys.executable, "-I", "-m", "hawse_gateway.egress.proxy_process"]
        self.child = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert self.child.stdin is not None
        with self.child.stdin as stdin:
            stdin.write(msgspec.json.encode(plan))

    def ready(self) -> bytes:
        assert self.child.stdout is not None
        assert select.select([self.child.stdout], [], [], 30)[0]
        return self.child.stdout.read()

    def lend(self) -> tuple[socket.socket, int]:
        """Hand over a listening socket; return the connection and the port."""
        listener = socket.create_server(("127.0.0.1", 0))
        connection = socket.socket(socket.AF_UNIX)
        while True:
            try:
                connection.connect(str(self.socket))
                break
            except ConnectionRefusedError:
                continue  # it is bound, and listens in a moment
        socket.send_fds(connection, [b"1"], [listener.fileno()])
        port = int(listener.getsockname()[1])
        listener.close()
        return connection, port

    def ask(self, written: int = 0) -> Answer:
        with socket.socket(socket.AF_UNIX) as control:
            control.connect(str(self.folder / CONTROL_NAME))
            control.sendall(msgspec.json.encode(Ask(written=written)) + b"\n")
            with control.makefile("rb") as file:
                return msgspec.json.decode(file.readline(), type=Answer)

    def close(self) -> None:
        self.child.kill()
        self.child.wait()
        for stream in (self.child.stdout, self.child.stderr):
            assert stream is not None
            stream.close()


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    made = Process(tmp_path)
    yield made
    made.close()


def get(port: int, url: str) -> bytes:
    with socket.create_connection(("127.0.0.1", port)) as program:
        program.sendall(f"GET {url} HTTP/1.1\r\nHost: {url.split('/')[2]}\r\nConnection: close\r\n\r\n".encode())
        with program.makefile("rb") as file:
            return file.read()


def test_it_serves_until_the_runtime_ends(process: Process) -> None:
    assert process.ready() == READY
    connection, port = process.lend()
    with EchoServer() as server:
        assert get(port, f"http://plain.test:{server.port}/").startswith(b"HTTP/1.1 200 ")
    assert get(port, "http://evil.test/").startswith(b"HTTP/1.1 403 ")
    answer = process.ask()
    assert [(each.reason, each.host, each.port, each.method) for each in answer.refusals] == [
        ("rule", "evil.test", 80, "GET")
    ]
    assert (answer.counters.requests, answer.counters.refused) == (1, 1)
    connection.close()
    assert process.child.wait(30) == 0


def test_it_ends_when_it_is_asked_to(process: Process) -> None:
    assert process.ready() == READY
    connection, _ = process.lend()
    process.child.send_signal(signal.SIGTERM)
    assert process.child.wait(30) == 0
    connection.close()


def test_a_second_one_of_the_same_sandbox_ends(process: Process, tmp_path: Path) -> None:
    assert process.ready() == READY
    second = Process(tmp_path)
    assert second.child.wait(30) == ALREADY_RUNNING
    second.close()
    connection, port = process.lend()  # the first is still reached
    assert get(port, "http://evil.test/").startswith(b"HTTP/1.1 403 ")
    connection.close()


def test_nonsense_at_its_control_socket_ends_that_connection_only(process: Process) -> None:
    assert process.ready() == READY
    connection, _ = process.lend()
    for noise in (b"\n", b"x" * (2 * REQUEST_MAX), b'{"written": "a"}\n'):
        with socket.socket(socket.AF_UNIX) as control:
            control.connect(str(process.folder / CONTROL_NAME))
            try:
                control.sendall(noise)
                assert control.recv(1) == b""
            except ConnectionError:
                pass
    assert process.ask().refusals == []
    connection.close()


@pytest.mark.skipif(os.getuid() != 0, reason="only the superuser becomes another user")
def test_the_superuser_becomes_another_user_and_loses_all_rights(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    process = Process(tmp_path, user=54_321)
    try:
        assert process.ready() == READY
        lines = Path(f"/proc/{process.child.pid}/status").read_text().splitlines()
        status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
        assert set(status["Uid"].split()) == set(status["Gid"].split()) == {"54321"}
        assert int(status["CapEff"], 16) == int(status["CapPrm"], 16) == 0
        assert status["NoNewPrivs"] == "1"
        # What the superuser writes there later cannot be replaced by a link.
        assert process.folder.stat().st_uid == 0
        assert stat.S_IMODE(process.folder.stat().st_mode) == 0o711
        connection, port = process.lend()
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with connection, socket.create_connection(("127.0.0.1", port)) as program:
            program.sendall(b"CONNECT plain.test:443 HTTP/1.1\r\nHost: plain.test:443\r\n\r\n")
            assert b" 200 " in program.recv(1000)
            with context.wrap_socket(program, server_hostname="plain.test") as tls:
                assert tls.version() == "TLSv1.3"
            assert len(process.ask().refusals) == 0
        assert os.stat(f"/proc/{process.child.pid}/mem").st_uid == 0  # it is not dumpable: its user cannot trace it
    finally:
        process.close()


def test_a_plan_that_is_not_valid_is_reported(tmp_path: Path) -> None:
    plan = {"folder": str(tmp_path), "socket": str(tmp_path / "s"), "terms": {"policy": {"allow": ["a..b"]}}}
    argv = [sys.executable, "-I", "-m", "hawse_gateway.egress.proxy_process"]
    child = subprocess.run(argv, input=json.dumps(plan).encode(), capture_output=True, check=False)
    assert child.returncode == 2
    assert b"'a..b' is not a host name" in child.stderr


def test_the_authority_is_created_once_and_unreadable_for_others(tmp_path: Path) -> None:
    open_authority(tmp_path)
    first = (tmp_path / CERTIFICATE_NAME).read_bytes()
    open_authority(tmp_path)
    assert (tmp_path / CERTIFICATE_NAME).read_bytes() == first
    for name in (KEY_NAME, CERTIFICATE_NAME):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


@pytest.mark.parametrize("name", [KEY_NAME, CERTIFICATE_NAME])
@pytest.mark.parametrize("content", ["", "-----BEGIN CERTIFICATE-----\nMII", None], ids=["empty", "cut", "missing"])
def test_an_unusable_authority_is_recreated(tmp_path: Path, name: str, content: str | None) -> None:
    open_authority(tmp_path)
    first = (tmp_path / CERTIFICATE_NAME).read_bytes()
    (tmp_path / name).unlink() if content is None else (tmp_path / name).write_text(content)
    open_authority(tmp_path).context("api.test")
    assert (tmp_path / CERTIFICATE_NAME).read_bytes().startswith(b"-----BEGIN CERTIFICATE-----")
    assert (tmp_path / CERTIFICATE_NAME).read_bytes() != first


def test_the_certificate_of_another_key_is_not_used(tmp_path: Path) -> None:
    open_authority(tmp_path)
    (tmp_path / CERTIFICATE_NAME).write_text(new_authority("other")[1])
    open_authority(tmp_path)
    key = serialization.load_pem_private_key((tmp_path / KEY_NAME).read_bytes(), None)
    certificate = x509.load_pem_x509_certificate((tmp_path / CERTIFICATE_NAME).read_bytes())
    assert certificate.public_key() == key.public_key()
