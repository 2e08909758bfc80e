import signal
import subprocess
import sys

import click
import httpx
import pytest

from hawse.cli import main
from hawse.cli.commands.mcp import Listener
from tests.support.stack import Stack, free_port


@pytest.mark.parametrize(
    ("text", "listener"),
    [("8765", ("127.0.0.1", 8765)), ("0.0.0.0:80", ("0.0.0.0", 80)), ("[::1]:9", ("::1", 9))],
)
def test_an_address_has_a_port_and_perhaps_a_host(text: str, listener: tuple[str, int]) -> None:
    assert Listener().convert(text, None, None) == listener


@pytest.mark.parametrize("text", ["", "host", "host:", "host:0", "host:70000", "host:x"])
def test_other_addresses_are_refused(text: str) -> None:
    with pytest.raises(click.BadParameter):
        Listener().convert(text, None, None)


def test_it_serves_http_until_it_is_terminated(gateway: Stack) -> None:
    port = free_port()
    command = [sys.executable, "-m", "hawse.cli", "mcp", "--http", str(port)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        assert f"http://127.0.0.1:{port}/mcp" in server.stderr.readline()
        with httpx.Client(trust_env=False, transport=httpx.HTTPTransport(retries=10)) as http:
            assert http.post(f"http://127.0.0.1:{port}/mcp", json={}).status_code == 401
        server.send_signal(signal.SIGTERM)
        assert "Traceback" not in server.stderr.read()
        assert server.wait() in (0, -signal.SIGTERM)


def test_without_the_library_it_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.startswith("hawse.mcp.") and name != "hawse.mcp.tool"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    assert main(["mcp"]) == 1
    assert "pip install 'hawse[mcp]'" in capsys.readouterr().err
