"""A small OpenID provider in a separate process: `python -m tests.support.oidc_provider`.

It conforms to OpenID Connect Core 1.0 for the authorization code flow with PKCE (RFC 7636, S256 required), and
identifies itself in its answers (RFC 9207). Tests can make it issue any token (`/mint`) and change its key (`/rotate`).
"""

import base64
import hashlib
import json
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import uvicorn
from joserfc import jwk, jwt
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from tests.support.http_clients import http_client

CLIENT = "hawse-test"
SECRET = "secret/of the client"
AUDIENCE = "https://hawse.test/api"
START_SECONDS = 60
ROOT = Path(__file__).parents[2]
USERS: dict[str, dict[str, Any]] = {
    "ada": {"sub": "248289", "name": "Ada Lovelace", "groups": ["staff", "admins"]},
    "bob": {"sub": "oidc|bob", "name": "Bob", "groups": ["staff"]},
    "eve": {"sub": "99", "name": "Eve", "groups": []},
}
FORM = """<!doctype html><title>Provider</title><form method="post" action="/approve?{query}">
<label>User <input name="user"></label><button>Continue</button></form>"""


class Server:
    """The server in the process."""

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer
        self.keys = [self._new_key()]
        self.codes: dict[str, dict[str, str]] = {}

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self._metadata),
                Route("/jwks", self._jwks),
                Route("/authorize", self._authorize),
                Route("/approve", self._approve, methods=["POST"]),
                Route("/token", self._token, methods=["POST"]),
                Route("/mint", self._mint, methods=["POST"]),
                Route("/rotate", self._rotate, methods=["POST"]),
            ]
        )

    def _new_key(self) -> Any:
        return jwk.generate_key("EC", "P-256", {"kid": secrets.token_hex(4), "use": "sig", "alg": "ES256"})

    async def _metadata(self, request: Request) -> Response:
        return JSONResponse(
            {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/jwks",
                "response_types_supported": ["code"],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["ES256"],
                "token_endpoint_auth_methods_supported": ["client_secret_basic"],
                "code_challenge_methods_supported": ["S256"],
                "authorization_response_iss_parameter_supported": True,
            }
        )

    async def _jwks(self, request: Request) -> Response:
        return JSONResponse({"keys": [key.as_dict(private=False) for key in self.keys]})

    async def _authorize(self, request: Request) -> Response:
        query = request.query_params
        ok = query.get("client_id") == CLIENT and query.get("response_type") == "code" and query.get("redirect_uri")
        if not ok or query.get("code_challenge_method") != "S256" or "openid" not in query.get("scope", "").split():
            return JSONResponse({"error": "invalid_request"}, 400)
        return HTMLResponse(FORM.format(query=urlencode(dict(query))))

    async def _approve(self, request: Request) -> Response:
        query = dict(request.query_params)
        user = (await form_of(request))["user"]
        if user in USERS:
            code = secrets.token_urlsafe()
            self.codes[code] = {**query, "user": user}
            answer = {"code": code}
        else:
            answer = {"error": "access_denied"}
        answer |= {"state": query["state"], "iss": self.issuer}
        return RedirectResponse(f"{query['redirect_uri']}?{urlencode(answer)}", 303)

    async def _token(self, request: Request) -> Response:
        form = await form_of(request)
        basic = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        if request.headers.get("authorization") != f"Basic {basic}":
            return JSONResponse({"error": "invalid_client"}, 401)
        asked = self.codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if (
            asked is None
            or asked["code_challenge"] != challenge
            or asked["redirect_uri"] != form.get("redirect_uri")
            or form.get("grant_type") != "authorization_code"
        ):
            return JSONResponse({"error": "invalid_grant"}, 400)
        claims = {**USERS[asked["user"]], "nonce": asked["nonce"], "aud": CLIENT}
        return JSONResponse(
            {"access_token": secrets.token_urlsafe(), "token_type": "Bearer", "id_token": self._sign(claims)}
        )

    async def _mint(self, request: Request) -> Response:
        return JSONResponse({"token": self._sign(json.loads(await request.body()))})

    async def _rotate(self, request: Request) -> Response:
        """Replace the key, which becomes invalid at once."""
        self.keys = [self._new_key()]
        return JSONResponse({})

    def _sign(self, claims: dict[str, Any]) -> str:
        now = int(time.time())
        key = self.keys[-1]
        claims = {"iss": self.issuer, "iat": now, "exp": now + 300, **claims}
        return jwt.encode({"alg": "ES256", "kid": key.kid}, claims, key)


async def form_of(request: Request) -> dict[str, str]:
    return dict(parse_qsl((await request.body()).decode()))


class RunningProvider:
    """The tests' interface to the process."""

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer

    async def mint(self, user: str, **claims: Any) -> str:
        """Return a token for `AUDIENCE` that identifies `user`, with `claims` that override the usual ones."""
        async with http_client(self.issuer, timeout=START_SECONDS) as http:
            answer = await http.post("/mint", json={**USERS[user], "aud": AUDIENCE, **claims})
            return str(answer.json()["token"])

    async def rotate(self) -> None:
        """Replace its key."""
        async with http_client(self.issuer, timeout=START_SECONDS) as http:
            (await http.post("/rotate")).raise_for_status()


@contextmanager
def provider_process() -> Iterator[RunningProvider]:
    """Run a provider; it ends with the block."""
    argv = [sys.executable, "-m", "tests.support.oidc_provider"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        try:
            issuer = process.stdout.readline().strip()
            assert issuer.startswith("http://127.0.0.1:"), issuer
            yield RunningProvider(issuer)
        finally:
            process.kill()


def main() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        issuer = f"http://127.0.0.1:{listener.getsockname()[1]}"
        print(issuer, flush=True)  # connections are queued until the server accepts them
        config = uvicorn.Config(Server(issuer).app(), log_level="warning", lifespan="off", loop="asyncio")
        uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
