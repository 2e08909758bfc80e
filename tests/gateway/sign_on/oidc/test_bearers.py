import time
from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

from hawse_gateway.limits.failed_attempts import FailedAttempts
from hawse_gateway.sign_on.oidc.bearers import BearerTokens
from hawse_gateway.sign_on.oidc.provider import OidcProvider
from hawse_gateway.sign_on.oidc.tokens import LEEWAY, Verifier
from hawse_gateway.sign_on.oidc.users import RoleRule, Users
from hawse_gateway.sign_on.settings import OidcSettings
from tests.support.clock import ManualClock
from tests.support.gateway import FakeRuntime, Gateway
from tests.support.http_clients import http_client
from tests.support.oidc_provider import AUDIENCE, CLIENT, RunningProvider


@pytest.fixture
async def served(runtime: FakeRuntime, settings: OidcSettings) -> AsyncIterator[Gateway]:
    async with Gateway(runtime, oidc=settings) as gateway:
        yield gateway


async def session(gateway: Gateway, token: str, path: str = "/v1/token.list") -> httpx.Response:
    async with http_client(gateway.url, timeout=60) as http:
        return await http.post(path, json={}, headers={"Authorization": f"Bearer {token}"})


async def test_a_token_of_the_provider_calls_over_http_and_websockets(
    served: Gateway, provider: RunningProvider
) -> None:
    token = await provider.mint("ada")
    await served.read_keys()
    async with served.peer(token=token) as client:
        assert await client.ask("answer", {"a": 1}) == {"a": 1}
    await served.sandboxes.own("local", "owner")
    tenant = await provider.mint("bob")
    async with served.peer(token=tenant) as client:
        with pytest.raises(Exception, match="unknown sandbox"):
            await client.ask("answer", {"a": 1})
        assert (await client.ask("sandbox.list", sandbox=None))["sandboxes"] == []


async def test_invalid_tokens_and_tokens_for_others_are_refused(served: Gateway, provider: RunningProvider) -> None:
    good = await provider.mint("ada")
    await served.read_keys()
    for token in (
        await provider.mint("ada", exp=1),
        await provider.mint("ada", aud=CLIENT),
        await provider.mint("ada", iss="https://evil.example"),
        good[:-6] + "AAAAAA",
        "a.b.c",
    ):
        assert (await session(served, token)).status_code == 401
    without_role = await session(served, await provider.mint("eve"))
    assert (without_role.status_code, without_role.json()["code"]) == (403, "forbidden")
    async with served.dial(token=await provider.mint("eve")) as ws:
        with pytest.raises(ConnectionClosed):
            while True:
                await ws.recv()
        assert ws.close_code == 4403


async def test_a_token_that_was_verified_ends_with_its_time(provider: RunningProvider) -> None:
    clock = ManualClock()
    clock.wall = time.time()
    found = OidcProvider(provider.issuer)
    await found.refresh()
    users = Users([RoleRule.parse("*=viewer")])
    tokens = BearerTokens(found, Verifier(found, clock=lambda: clock.wall), users, AUDIENCE, clock=clock.clock)
    token = await provider.mint("ada", exp=int(clock.wall) + 100)
    identity = tokens.find(token)
    assert identity is not None
    assert identity.principal.credential == identity.credential
    clock.advance(100 + LEEWAY - 2)
    assert tokens.find(token) == identity == tokens.identity(identity.credential)
    clock.advance(4)
    assert tokens.identity(identity.credential) is None
    assert tokens.find(token) is None


async def test_a_token_cannot_create_credentials_that_would_outlive_it(
    served: Gateway, provider: RunningProvider
) -> None:
    token = await provider.mint("ada")
    await served.read_keys()
    headers = {"Authorization": f"Bearer {token}", "Origin": served.url}
    async with http_client(served.url, headers=headers, timeout=60) as http:
        for path, body in (("/v1/token.create", {"name": "x", "role": "viewer"}), ("/v1/session", {})):
            answer = await http.post(path, json=body)
            assert (answer.status_code, answer.json()["code"]) == (403, "forbidden"), path
        ticket = (await http.post("/v1/tickets")).json()["ticket"]
    async with served.peer(token=None, query=f"?ticket={ticket}") as client:
        assert await client.ask("answer", 2) == 2


async def test_a_new_key_is_fetched_and_the_old_one_is_no_longer_valid(
    served: Gateway, provider: RunningProvider
) -> None:
    old = await provider.mint("ada")
    await served.read_keys()
    await provider.rotate()
    new = await provider.mint("ada")
    # Refused if the keys were read just now, otherwise they are being read again.
    assert (await session(served, new)).status_code in (401, 503)
    await served.read_keys()
    assert (await session(served, new)).status_code == 200
    assert (await session(served, old)).status_code == 401


async def test_invalid_tokens_of_the_provider_count_as_wrong_credentials(
    runtime: FakeRuntime, settings: OidcSettings, provider: RunningProvider
) -> None:
    async with Gateway(runtime, oidc=settings, failed_attempts=FailedAttempts(2, rate=1e-6)) as gateway:
        await gateway.read_keys()
        expired = await provider.mint("ada", exp=1)
        assert [(await session(gateway, expired)).status_code for _ in range(3)] == [401, 401, 429]


async def test_without_an_audience_tokens_of_the_provider_are_not_accepted(
    runtime: FakeRuntime, settings: OidcSettings, provider: RunningProvider
) -> None:
    async with Gateway(runtime, oidc=replace(settings, audience=None)) as gateway:
        assert (await session(gateway, await provider.mint("ada"))).status_code == 401
