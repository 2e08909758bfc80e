"""Access to previews."""

import asyncio
import socket
from pathlib import Path

import httpx
import pytest

import hawse
from hawse_gateway.app import create_app
from hawse_gateway.preview.proxy import AT_ONCE_EACH
from hawse_gateway.providers.local import LocalProvider
from hawse_gateway.providers.state_directory import StateDirectory
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.settings import Settings
from hawse_gateway.store.base import Store
from hawse_gateway.store.sqlite import SqliteStore
from tests.support.http_clients import http_client
from tests.support.previewed import Previewed
from tests.support.waiting import Changes

pytestmark = pytest.mark.asyncio(loop_scope="module")
HTML = {"Accept": "text/html,*/*"}


async def get(preview: Previewed, path: str, **headers: str) -> httpx.Response:
    return await preview.http.get(f"{preview.stack.base}{path}", headers=headers)


async def test_both_addresses_reach_the_program_without_a_token_of_the_gateway(preview: Previewed) -> None:
    assert (await get(preview, f"{preview.path}/seen")).json()["target"] == "/seen"
    assert (await get(preview, "/v1/tickets", Host=preview.name)).json()["target"] == "/v1/tickets"
    assert (await get(preview, "/healthz", Host=preview.name)).json()["target"] == "/healthz"


async def test_a_path_without_its_last_slash_is_redirected(preview: Previewed) -> None:
    answer = await get(preview, f"{preview.path}?a=b")
    assert (answer.status_code, answer.headers["location"]) == (308, f"{preview.path}/?a=b")


async def test_the_gateways_own_headers_are_not_on_a_preview(preview: Previewed) -> None:
    by_name = await get(preview, "/seen", Host=preview.name)
    assert "content-security-policy" not in by_name.headers
    by_path = await get(preview, f"{preview.path}/seen")
    assert by_path.headers["content-security-policy"].startswith("sandbox ")
    assert "content-security-policy" in (await get(preview, "/")).headers


async def test_a_page_by_path_may_send_requests_that_need_a_preflight(preview: Previewed) -> None:
    asked = {"Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "content-type"}
    answer = await preview.http.options("/seen", headers={"Origin": "null"} | asked)
    assert answer.status_code == 204
    allowed = [answer.headers[f"access-control-allow-{what}"] for what in ("origin", "methods", "headers")]
    assert allowed == ["null", "PUT", "content-type"]


@pytest.mark.parametrize("origin", ["https://other.example", None])
async def test_other_preflights_and_options_are_for_the_program(preview: Previewed, origin: str | None) -> None:
    asked = {"Access-Control-Request-Method": "PUT"} | ({"Origin": origin} if origin else {})
    answer = await preview.http.options("/seen", headers=asked)
    assert "access-control-allow-methods" not in answer.headers
    by_name = await preview.http.options(
        f"{preview.stack.base}/seen", headers=asked | {"Host": preview.name, "Origin": "null"}
    )
    assert "access-control-allow-methods" not in by_name.headers


async def test_other_requests_are_for_the_gateway(preview: Previewed) -> None:
    assert (await get(preview, "/healthz")).json()["status"] == "ok"
    assert (await get(preview, "/", Host="no-preview.localhost")).status_code == 403
    assert (await get(preview, f"{preview.path}/seen", Host="evil.example")).status_code == 403


async def test_unknown_tokens_are_404(preview: Previewed) -> None:
    unknown = await get(preview, f"/p/local/{'a' * 26}/")
    assert (unknown.status_code, unknown.json()["code"]) == (404, "not_found")
    other = await get(preview, f"/p/other/{preview.token}/")
    assert (other.status_code, other.json()["code"]) == (404, "not_found")
    port = await get(preview, "/", Host=preview.name.replace(str(preview.port), "81", 1))
    assert port.status_code == 404, "the port in the name is the one it is for"


async def test_a_port_without_a_listener_is_502(preview: Previewed) -> None:
    token = (await preview.sandbox.call("port.expose", {"port": 1}))["token"]
    answer = await get(preview, f"/p/local/{token}/")
    assert (answer.status_code, answer.json()["code"]) == (502, "unavailable")
    page = await get(preview, f"/p/local/{token}/", **HTML)
    assert page.headers["content-type"].startswith("text/html")
    assert "no program is listening on port 1" in page.text
    assert page.headers["content-security-policy"].startswith("sandbox; default-src 'none'")


async def test_ports_of_the_gateway_and_of_the_host_cannot_be_exposed(preview: Previewed) -> None:
    with socket.create_server(("127.0.0.1", 0)) as machine:
        for port in (preview.stack.port, machine.getsockname()[1]):
            with pytest.raises(hawse.HawseError, match="forbidden"):
                await preview.sandbox.call("port.expose", {"port": port})


async def test_a_port_taken_over_by_another_program_is_not_forwarded(preview: Previewed) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token = (await preview.sandbox.call("port.expose", {"port": port}))["token"]
    with socket.create_server(("127.0.0.1", port)):
        answer = await get(preview, f"/p/local/{token}/")
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


async def test_revoking_a_preview_also_ends_its_open_connections(preview: Previewed) -> None:
    async with preview.http.stream("GET", "/silent") as answer, preview.socket() as open_socket:
        await preview.sandbox.call("port.unexpose", {"port": preview.port})
        with pytest.raises(httpx.RemoteProtocolError):
            await answer.aread()
        with pytest.raises(Exception, match="not_found"):
            await open_socket.recv()
    assert (await get(preview, f"{preview.path}/seen")).status_code == 404
    again = await preview.sandbox.call("port.expose", {"port": preview.port})
    renewed = Previewed(preview.stack, preview.sandbox, again)
    preview.token, preview.path, preview.name = renewed.token, renewed.path, renewed.name
    await preview.http.aclose()
    preview.http = renewed.http


async def test_the_number_of_requests_of_one_preview_is_limited(preview: Previewed) -> None:
    limits = httpx.Limits(max_connections=None)
    url = f"{preview.stack.base}{preview.path}"
    async with http_client(limits=limits, timeout=30) as http, asyncio.TaskGroup() as tasks:
        left = asyncio.Event()
        changes = Changes()
        open_ = 0

        async def hold() -> None:
            nonlocal open_
            async with http.stream("GET", f"{url}/silent") as answer:
                assert answer.status_code == 200
                open_ += 1
                changes.notify()
                await left.wait()

        for _ in range(AT_ONCE_EACH):
            tasks.create_task(hold())
        await changes.until(lambda: open_ == AT_ONCE_EACH)
        answer = await http.get(f"{url}/seen")
        assert (answer.status_code, answer.json()["code"]) == (429, "limit_exceeded")
        left.set()


async def test_a_preview_does_not_start_its_sandbox(preview: Previewed, tmp_path: Path) -> None:
    provider = LocalProvider(StateDirectory(tmp_path), "none")
    store = SqliteStore(tmp_path / "store.db")
    sandboxes = Sandboxes(store, {"local": provider})
    given = {StateDirectory: StateDirectory(tmp_path), Store: store, Sandboxes: sandboxes}
    app = create_app(Settings(token="a token"), given).asgi
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
            answer = await http.get(f"/p/local/{preview.token}/")
    assert (answer.status_code, answer.json()["code"]) == (410, "stale_handle")
    assert await provider.discover() == []  # it was not even created


async def test_the_visitors_of_a_preview_are_in_the_audit_log_once_a_minute(preview: Previewed) -> None:
    for _ in range(3):
        assert (await get(preview, f"{preview.path}/seen")).status_code == 200
    async with hawse.connect(preview.stack.base, token=preview.stack.token) as hw:
        found = await hw.audit.list(method="preview", limit=1000)
    mine = [entry for entry in found if entry.on == {"port": str(preview.port)}]
    assert {(entry.sandbox, entry.outcome, entry.kind) for entry in mine} == {("local", "ok", "guest")}
    assert all(preview.token not in str(entry) for entry in mine)
