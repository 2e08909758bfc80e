import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from typing import Any

import pytest
import uvicorn
from joserfc import jwk
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from hawse.wire import HawseError
from hawse_gateway.sign_on.oidc.provider import ANSWER_SIZE, KEYS, RETRY, OidcProvider, ProviderFailedError, allowed_url
from tests.support.oidc_provider import RunningProvider


class SignalsOfTests(uvicorn.Server):
    """Leaves the handlers of signals as they are."""

    def capture_signals(self) -> Any:
        return nullcontext()


@asynccontextmanager
async def answering(answer: Callable[[str, Request], Any]) -> AsyncIterator[OidcProvider]:
    """A provider whose answers are what `answer` returns for the issuer and a request."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        issuer = f"http://127.0.0.1:{listener.getsockname()[1]}"

        async def respond(request: Request) -> Response:
            found = answer(issuer, request)
            return found if isinstance(found, Response) else Response(json.dumps(found))

        app = Starlette(routes=[Route("/{rest:path}", respond)])
        server = SignalsOfTests(uvicorn.Config(app, log_config=None, lifespan="off", loop="none"))
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(server.serve([listener]))
            try:
                yield OidcProvider(issuer)
            finally:
                server.should_exit = True


def metadata(issuer: str, **other: Any) -> dict[str, Any]:
    names = ("authorization_endpoint", "token_endpoint", "jwks_uri")
    return {"issuer": issuer} | {name: f"{issuer}/{name}" for name in names} | other


async def test_metadata_and_keys_are_read_and_a_change_of_keys_is_notified(provider: RunningProvider) -> None:
    found = OidcProvider(provider.issuer)
    changes = []
    found.on_keys = lambda: changes.append(list(found.keys))
    with pytest.raises(HawseError, match="cannot be reached") as caught:
        found.known()
    assert caught.value.code == "unavailable"
    await found.refresh()
    await found.refresh()
    assert found.known().token == f"{provider.issuer}/token"
    assert (found.known().basic, found.known().names_itself) == (True, True)
    await provider.rotate()
    await found.refresh()
    assert len(changes) == 2
    assert changes[0] != changes[1] == list(found.keys)


async def test_unknown_keys_make_the_keys_be_read_once_in_a_while(provider: RunningProvider) -> None:
    now = 0.0
    found = OidcProvider(provider.issuer, clock=lambda: now)
    assert found.key_is_unknown()
    await found.refresh()
    assert not found.key_is_unknown()
    now = RETRY
    assert found.key_is_unknown()


@pytest.mark.parametrize(
    "answer",
    [
        lambda issuer, request: metadata("https://evil.example"),
        lambda issuer, request: metadata(issuer, jwks_uri="http://evil.example/keys"),
        lambda issuer, request: metadata(issuer, token_endpoint=None),
        lambda issuer, request: [],
        lambda issuer, request: Response("not JSON"),
        lambda issuer, request: Response("[" * 100_000),
        lambda issuer, request: Response(b" " * (ANSWER_SIZE + 1)),
        lambda issuer, request: Response("{}", 500),
        lambda issuer, request: RedirectResponse("/elsewhere"),
        lambda issuer, request: {**metadata(issuer), "keys": 5},
    ],
)
async def test_an_unusable_response_is_refused(answer: Callable[[str, Request], Any]) -> None:
    async with answering(answer) as provider:
        with pytest.raises(ProviderFailedError):
            await provider.refresh()
        assert not provider.keys


async def test_a_provider_that_does_not_answer_is_reported() -> None:
    with pytest.raises(ProviderFailedError, match="cannot be reached"):
        await OidcProvider("http://127.0.0.1:1").refresh()


async def test_keys_that_cannot_verify_are_left_out() -> None:
    good = jwk.generate_key("EC", "P-256", {"kid": "good"}).as_dict(private=False)
    keys = [
        good,
        {**good, "kid": "for encryption", "use": "enc"},
        {"kty": "oct", "kid": "secret", "k": "c2VjcmV0"},
        {"kty": "EC", "kid": "broken", "crv": "P-256", "x": "AA", "y": "AA"},
        {"kty": "RSA", "kid": "short", "n": "wQ", "e": "AQAB"},
        {"kty": "AKP", "kid": "of the future"},
        "text",
        *({**good, "kid": f"k{number}"} for number in range(KEYS)),
    ]
    async with answering(lambda issuer, request: {**metadata(issuer), "keys": keys}) as provider:
        await provider.refresh()
        assert list(provider.keys) == ["good", *(f"k{number}" for number in range(KEYS - 7))]


def test_urls_are_https_or_of_this_machine() -> None:
    assert all(map(allowed_url, ["https://id.example/x", "http://localhost:1", "http://127.0.0.1/a", "http://[::1]"]))
    for url in ("http://id.example", "ftp://localhost", "https://", "https://[", "https://a/#b", "file:///etc/passwd"):
        assert not allowed_url(url)
