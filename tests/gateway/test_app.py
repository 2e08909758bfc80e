from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import click
import httpx
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from hawse.api.ports import PreviewHost, PreviewHostResult
from hawse.cli.commands.serve import given as from_options, options
from hawse.rpc import handles
from hawse_gateway import VERSION
from hawse_gateway.app import FEATURES, create_app
from hawse_gateway.auth.principals import OWNER
from hawse_gateway.auth.tickets import OUTSTANDING
from hawse_gateway.connection.join import MACHINES
from hawse_gateway.core.feature import Composition, Feature
from hawse_gateway.core.settings import FeatureSettings, Option, SettingsError
from hawse_gateway.http.endpoint import REQUESTS
from hawse_gateway.http.feature import HTTP
from hawse_gateway.metrics.prometheus_text import Exposition, Family
from hawse_gateway.preview.feature import PREVIEWS
from hawse_gateway.preview.proxy import AT_ONCE
from hawse_gateway.providers.state_directory import StateDirectory
from hawse_gateway.settings import Settings
from hawse_gateway.store.base import Store
from hawse_gateway.tunnels.feature import TUNNELS
from hawse_gateway.tunnels.options import TunnelOptions
from tests.support.gateway import TOKEN, VIEWER_TOKEN, Gateway
from tests.support.http_clients import http_client
from tests.support.stores import MemoryStore

BEARER = {"Authorization": f"Bearer {TOKEN}"}


async def request(gateway: Gateway, method: str, path: str, **headers: str) -> httpx.Response:
    async with http_client(gateway.url) as http:
        return await http.request(
            method, path, headers={name.replace("_", "-"): value for name, value in headers.items()}
        )


async def test_health_is_public_and_contains_only_status_and_version(gateway: Gateway) -> None:
    answer = await request(gateway, "GET", "/healthz", Host="probe.internal")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok", "version": VERSION})


async def test_a_ticket_is_issued_to_a_client_with_a_token(gateway: Gateway) -> None:
    answer = await request(gateway, "POST", "/v1/tickets", **BEARER)
    assert answer.status_code == 201
    assert answer.headers["cache-control"] == "no-store"
    assert answer.json().keys() == {"ticket", "expires_in"}
    assert answer.json()["expires_in"] == 30


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({}, 401, "unauthenticated"),
        ({"Authorization": "Bearer wrong"}, 401, "unauthenticated"),
        (BEARER | {"Origin": "http://evil.example"}, 403, "origin_denied"),
        (BEARER | {"Host": "evil.example"}, 403, "origin_denied"),
    ],
)
async def test_a_ticket_is_refused_without_a_valid_token(
    gateway: Gateway, headers: dict[str, str], status: int, code: str
) -> None:
    answer = await request(gateway, "POST", "/v1/tickets", **headers)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.json().keys() == {"code", "message", "retryable", "admitted", "request"}
    assert TOKEN not in answer.text


async def test_tickets_of_a_viewer_do_not_keep_the_owner_out(gateway: Gateway) -> None:
    for _ in range(OUTSTANDING):
        gateway.tickets.issue(gateway.credentials.find(VIEWER_TOKEN))
    answer = await request(gateway, "POST", "/v1/tickets", **BEARER)
    assert answer.status_code == 201
    assert gateway.tickets.take(answer.json()["ticket"]).principal == OWNER


async def test_a_ticket_requires_post(gateway: Gateway) -> None:
    assert (await request(gateway, "GET", "/v1/tickets", **BEARER)).status_code in (404, 405)


async def test_a_foreign_host_gets_no_page(gateway: Gateway) -> None:
    assert (await request(gateway, "GET", "/", Host="evil.example")).status_code == 403
    assert (await request(gateway, "GET", "/", Host="gateway.test")).status_code == 200


@pytest.mark.parametrize("path", ["/", "/healthz", "/v1/tickets", "/nope"])
async def test_every_response_has_the_security_headers(gateway: Gateway, path: str) -> None:
    answer = await request(gateway, "GET", path)
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert "server" not in answer.headers


async def test_foreign_origins_get_no_cors_headers(gateway: Gateway) -> None:
    answer = await request(gateway, "OPTIONS", "/v1/tickets", Origin="http://evil.example")
    assert not [name for name in answer.headers if name.startswith("access-control")]


async def test_connect_without_an_upgrade_is_not_found(gateway: Gateway) -> None:
    assert (await request(gateway, "GET", "/v1/connect", **BEARER)).status_code in (404, 426)


async def test_connect_without_an_upgrade_requires_one(gateway: Gateway) -> None:
    answer = await request(gateway, "GET", "/v1/connect", **BEARER)
    assert (answer.status_code, answer.headers["upgrade"], answer.json()["code"]) == (
        426,
        "websocket",
        "protocol_error",
    )


class Greetings:
    """A capability: a method, a route, a metric, and something that runs."""

    def __init__(self, greeting: str) -> None:
        self.greeting = greeting
        self.runs = False

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        self.runs = True
        yield
        self.runs = False

    @handles(PreviewHost)
    async def host(self, params: PreviewHost) -> PreviewHostResult:
        return PreviewHostResult(host="hello.example")

    async def greet(self, request: Request) -> Response:
        return PlainTextResponse(self.greeting)

    async def collect(self, out: Exposition) -> None:
        out.add(Family("hawse_greeting", "gauge", "A greeting."), [({}, int(self.runs))])


@dataclass(frozen=True, kw_only=True)
class GreetingSettings(FeatureSettings):
    greeting: Annotated[str, Option("--greeting", "the greeting (hello)", metavar="TEXT")] = "hello"

    def check(self) -> None:
        super().check()
        if not self.greeting:
            raise SettingsError("--greeting must not be empty")


@dataclass(frozen=True, kw_only=True)
class SettingsWithGreeting(GreetingSettings, Settings):
    """The settings of a gateway with one more feature."""


def greetings(gateway: Composition) -> None:
    made = gateway.add(Greetings(gateway.part(GreetingSettings).greeting))
    gateway.methods.append(made)
    gateway.routes.append(Route("/greeting", made.greet))
    gateway.metrics.append(made.collect)
    gateway.running.append(made.running())


async def test_a_capability_is_one_feature_in_the_list_and_one_class_of_settings(tmp_path: Path) -> None:
    features = [feature for feature in FEATURES if feature not in (PREVIEWS, TUNNELS, HTTP)]
    given = {StateDirectory: StateDirectory(tmp_path), Store: MemoryStore()}
    argv = ["--greeting", "good morning", "--state", str(tmp_path), "--token", TOKEN, "--isolation", "none"]
    command = click.Command("serve", params=list(options(SettingsWithGreeting)))
    settings: SettingsWithGreeting = from_options(SettingsWithGreeting, command.make_context("serve", argv).params)
    settings.check()
    app = create_app(settings, given, [*features, Feature("greetings", greetings), HTTP])
    made = app.composition.part(Greetings)
    transport = httpx.ASGITransport(app.asgi)
    async with (
        app.asgi.router.lifespan_context(app.asgi),
        httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=BEARER) as http,
    ):
        assert (await http.get("/greeting")).text == "good morning"
        assert (await http.post("/v1/preview.host")).json() == {"host": "hello.example"}
        assert "hawse_greeting 1" in (await http.get("/metrics")).text
    assert not made.runs


async def test_the_connections_and_sockets_of_all_features_are_counted(tmp_path: Path) -> None:
    def composed(**options: Any) -> Composition:
        settings = Settings(state=tmp_path, token=TOKEN, isolation="none", **options)
        return create_app(settings, {StateDirectory: StateDirectory(tmp_path), Store: MemoryStore()}).composition

    few, more = composed(max_connections=10), composed(max_connections=11, tunnel_ports="20000-20009")
    assert few.connections == 10 + REQUESTS + AT_ONCE + MACHINES
    assert (more.connections - few.connections, few.sockets) == (1, 0)
    assert more.sockets == more.part(TunnelOptions).sockets > 10
