import contextlib
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

import hawse
from hawse_gateway.core import log_config as logs
from hawse_gateway.core.settings import SettingsError
from tests.support.http_clients import http_client
from tests.support.stack import Stack

NAMES = ("", "hawse_gateway", "hawse", "uvicorn", "uvicorn.error", "uvicorn.access", "websockets")


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    before = {name: logging.getLogger(name).level for name in NAMES}
    yield
    for name, level in before.items():
        logging.getLogger(name).setLevel(level)


def test_by_default_only_warnings_and_errors_are_logged() -> None:
    logs.configure(verbose=False)
    assert not logging.getLogger("hawse_gateway.connection.client_connection").isEnabledFor(logging.INFO)
    assert logging.getLogger("hawse_gateway.connection.client_connection").isEnabledFor(logging.WARNING)


def test_verbose_logs_connections_and_disconnections() -> None:
    logs.configure(verbose=True)
    assert logging.getLogger("hawse_gateway.connection.endpoint").isEnabledFor(logging.INFO)


@pytest.mark.parametrize("verbose", [True, False])
def test_uvicorns_access_lines_which_contain_tickets_are_never_logged(verbose: bool) -> None:
    logs.configure(verbose=verbose)
    for name in ("uvicorn.error", "uvicorn.access"):
        assert not logging.getLogger(name).isEnabledFor(logging.INFO)


async def test_json_lines_have_role_and_sandbox_and_no_secret(tmp_path: Path) -> None:
    """Requests to every interface, with all secrets that an address or a header can contain."""
    async with Stack(tmp_path / "state", "--log-format", "json", "--verbose") as stack:
        bearer = {"Authorization": f"Bearer {stack.token}"}
        async with http_client(stack.base) as http:
            ticket = (await http.post("/v1/tickets", headers=bearer)).json()["ticket"]
            url = f"{stack.base.replace('http', 'ws')}/v1/connect"
            for query in (f"?ticket={ticket}", "?ticket=a-wrong-secret"):
                async with connect(url + query, subprotocols=[Subprotocol("hawse.v1")], proxy=None) as ws:
                    with contextlib.suppress(ConnectionClosed):
                        await ws.send(json.dumps({"type": "hello", "protocol": 1, "client": "test", "window": 65536}))
                        await ws.recv()
            async with hawse.connect(stack.base, token=stack.token) as hw:
                preview = (await hw.sandbox().call("port.expose", {"port": 9}))["token"]
                await http.get(f"/p/local/{preview}/?q=a-wrong-secret")
            await http.get("/v1/sandboxes/local/recordings/r.cast?ticket=a-wrong-secret")
            await http.get("/metrics?token=a-wrong-secret", headers={"Authorization": "Bearer a-wrong-secret"})
            secrets = [stack.token, stack.viewer_token, ticket, preview, "a-wrong-secret"]
        assert await stack.terminate() == 0
        lines = [line for line in stack.printed if "#token=" not in line]
        runtime = (tmp_path / "state" / "sandboxes" / "local" / "runtime.log").read_text().splitlines()
    assert not [(line, secret) for line in [*lines, *runtime] for secret in secrets if secret in line]
    records = [json.loads(line) for line in [*lines, *runtime]]
    assert {"time", "level", "logger", "message"} <= set.intersection(*(set(line) for line in records))
    known = {
        (line["logger"], name, line[name]) for line in records for name in ("role", "sandbox", "code") if name in line
    }
    assert ("hawse_gateway.connection.endpoint", "role", "owner") in known
    assert ("hawse_gateway.connection.endpoint", "code", "unauthenticated") in known
    assert ("hawse_gateway.upstream.sandbox_link", "sandbox", "local") in known
    assert ("hawse_gateway.preview.proxy", "sandbox", "local") in known
    assert ("root", "sandbox", "local") in known, "the runtime's own log"


def test_an_unknown_log_format_is_refused() -> None:
    settings: Any = logs.LogSettings
    with pytest.raises(SettingsError, match="--log-format xml: choose one of text, json"):
        settings(log_format="xml").check()
    settings(log_format="json").check()
