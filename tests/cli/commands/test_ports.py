import json
import re
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import click
import pytest

from hawse.cli import main
from hawse.cli.commands.ports import parse_mapping
from hawse.cli.target import Target
from hawse.client import Client, Sandbox
from tests.support.stack import Stack, free_port

TIMEOUT = 30.0  # s until a waiting test fails


@pytest.fixture
def site(gateway: Stack) -> Iterator[int]:
    """The port of a web server in the sandbox, whose page is `hello`."""
    port = free_port()

    async def start(client: Client, box: Sandbox) -> str:
        await box.files.write_text("site/index.html", "hello")
        command = ["python3", "-m", "http.server", str(port), "--bind", "127.0.0.1", "-d", "site"]
        process = await box.processes.start(command)
        await process.wait_for_port(port)
        return process.id

    name = Target(url=gateway.base, token=gateway.token).run(start)
    yield port
    main(["kill", name])


@contextmanager
def forwarding(mapping: str) -> Iterator[int]:
    """Run `hawse port forward`; yields the local port."""
    argv = [sys.executable, "-m", "hawse.cli", "port", "forward", mapping]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as command:
        assert command.stdout is not None
        found = re.match(r"localhost:(\d+) leads to port", command.stdout.readline())
        assert found is not None
        yield int(found[1])
        command.terminate()


def test_a_port_is_listed_exposed_and_unexposed(site: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["port", "expose", str(site)]) == 0
    url = capsys.readouterr().out.strip()
    main(["port", "ls", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert site in [each["port"] for each in found["ports"]]
    (preview,) = [each for each in found["previews"] if each["port"] == site]
    assert preview["url"] == url
    with urllib.request.urlopen(preview["path_url"]) as page:
        assert page.read() == b"hello"
    main(["port", "ls"])
    assert re.search(rf"{site} .*{re.escape(url)}", capsys.readouterr().out)
    assert main(["port", "unexpose", str(site)]) == 0
    main(["port", "ls", "--json"])
    assert site not in [each["port"] for each in json.loads(capsys.readouterr().out)["previews"]]


def test_a_local_port_leads_to_the_sandbox(site: int) -> None:
    with forwarding(f"0:{site}") as local:
        for _ in range(3):
            with urllib.request.urlopen(f"http://127.0.0.1:{local}/") as page:
                assert page.read() == b"hello"


# Answers with the number of bytes that have arrived, after the client has closed its half.
COUNTER = """
import socket, sys
with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as server:
    while True:
        connection, _ = server.accept()
        with connection, connection.makefile("rb") as file:
            connection.sendall(b"%d bytes" % len(file.read()))
"""


def test_both_directions_and_the_end_of_each_are_passed_on(gateway: Stack) -> None:
    port = free_port()

    async def start(client: Client, box: Sandbox) -> str:
        process = await box.processes.start(["python3", "-c", COUNTER, str(port)])
        await process.wait_for_port(port)
        return process.id

    name = Target(url=gateway.base, token=gateway.token).run(start)
    with forwarding(f"0:{port}") as local, socket.create_connection(("127.0.0.1", local)) as connection:
        connection.sendall(b"x" * 1_000_000)
        connection.shutdown(socket.SHUT_WR)
        with connection.makefile("rb") as file:
            assert file.read() == b"1000000 bytes"
    main(["kill", name])


def test_a_port_of_the_sandbox_leads_to_this_machine(gateway: Stack) -> None:
    """With the end of each direction; and a port of this machine where nothing listens resets the connection."""
    inside, served = free_port(), free_port()
    ask = (
        "import socket, sys; s = socket.create_connection(('127.0.0.1', int(sys.argv[1]))); s.sendall(b'x' * 1000000);"
        " s.shutdown(1); print(s.makefile().read())"
    )

    async def work(client: Client, box: Sandbox) -> bytes:
        return (await box.exec(["python3", "-c", ask, str(inside)])).stdout

    argv = [sys.executable, "-m", "hawse.cli", "port", "forward", "-R", f"{inside}:{served}"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as command:
        assert command.stdout is not None
        assert command.stdout.readline() == f"port {inside} in sandbox local leads to 127.0.0.1:{served}\n"
        target = Target(url=gateway.base, token=gateway.token)
        assert target.run(work).strip() == b""
        with subprocess.Popen([sys.executable, "-c", COUNTER, str(served)]) as counter:
            while target.run(work).strip() != b"1000000 bytes":
                assert counter.poll() is None
            counter.terminate()
        command.terminate()


def test_the_end_of_a_port_that_leads_here_is_reported(gateway: Stack) -> None:
    inside = free_port()
    argv = [sys.executable, "-m", "hawse.cli", "port", "forward", "-R", str(inside)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(argv, **pipes) as first:  # type: ignore[call-overload]
        assert first.stdout.readline().startswith(f"port {inside} in sandbox")
        with subprocess.Popen(
            argv, stdout=subprocess.PIPE, text=True
        ) as later:  # takes over, as after a lost connection
            assert first.wait(TIMEOUT) == 1
            assert first.stderr.read() == "Error: conflict: a later call by the same user is listening on the port\n"
            later.terminate()


def test_an_unknown_sandbox_is_reported_at_once(gateway: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["8000"], ["-R", "8000"]):
        assert main(["port", "forward", "-s", "nowhere", *arguments]) == 1
        assert "unknown sandbox 'nowhere'" in capsys.readouterr().err


def test_a_local_port_that_is_taken_is_reported(gateway: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["port", "forward", f"{gateway.port}:80"]) == 1
    assert f"cannot listen on 127.0.0.1:{gateway.port}" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "ports"), [("8080", (8080, 8080)), ("9000:80", (9000, 80)), ("0:80", (0, 80))])
def test_a_mapping_has_one_or_two_ports(text: str, ports: tuple[int, int]) -> None:
    assert parse_mapping(text) == ports


@pytest.mark.parametrize("text", ["", "x", "0", "1:0", "65536", "1:2:3", ":80", "-1:80"])
def test_other_mappings_are_refused(text: str) -> None:
    with pytest.raises(click.BadParameter):
        parse_mapping(text)
