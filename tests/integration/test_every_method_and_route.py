"""Each method and each route, called by each kind of caller.

The tables contain the access decisions. A new method or route is missing from them, so these tests fail until somebody
decides which callers can use it.
"""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from starlette.routing import Mount, Route, WebSocketRoute

from hawse.api import GATEWAY, METHODS
from hawse.api.rights import CONTROL, OPERATE, PREVIEW, VIEW, WRITE
from hawse.wire import HawseError, Principal
from hawse_gateway.auth.credentials import TABLE
from hawse_gateway.sign_on.settings import OidcSettings
from tests.support.gateway import TOKEN, FakeRuntime, Gateway
from tests.support.http_clients import http_client

# The right that each method needs, in the call's sandbox. `@`: the right at the call's terminal is enough.
# `*`: the right anywhere is enough, and the handler filters the result for the caller.
NEEDS: Final[Mapping[str, str]] = {
    OPERATE: """
        code.answer code.attach code.complete code.create code.delete code.get code.inspect code.interrupt
        code.languages code.list code.restart code.run code.watch exec
        desktop.launch desktop.start desktop.stop
        git.add git.branch git.cancel git.checkout git.clone git.commit git.diff git.log git.pull git.push git.status
        port.accept port.expose port.exposed port.list port.listen port.unexpose port.watch
        process.attach process.get process.kill process.killall process.list process.remove process.signal
        process.start process.wait
        recording.delete recording.mark recording.start recording.stop runtime.info runtime.metrics
        session.cancel session.create session.delete session.exec session.get session.list session.process
        session.watch terminal.create terminal.kill
        sandbox.delete sandbox.pause sandbox.resume sandbox.start sandbox.stop sandbox.update
        sandbox.snapshot
        backup.create
        mount.create mount.delete mount.list
        tunnel.create tunnel.delete tunnel.list
        egress.get egress.set egress.watch
        image.list image.pull image.remove
    """,
    OPERATE + "*": """
        sandbox.create template.list backup.restore backup.list backup.usage backup.get backup.delete backup.cancel
    """,
    WRITE: """
        desktop.click desktop.clipboard desktop.drag desktop.key desktop.lease desktop.move desktop.resize
        desktop.scroll desktop.type
        file.archive file.cancel file.chmod file.copy file.delete file.edit file.exists file.extract file.list
        file.mkdir file.move file.read file.rename file.search file.stat file.symlink file.utime file.write
        watch.changes watch.start watch.stop
    """,
    WRITE + "@": """
        terminal.answer terminal.ask terminal.claim terminal.lease terminal.refuse terminal.resize terminal.send
        terminal.signal
    """,
    WRITE + "*": "terminal.questions",
    VIEW: "desktop.attach desktop.list desktop.screenshot desktop.windows sandbox.get",
    VIEW + "@": """
        terminal.attach terminal.get terminal.history terminal.presence terminal.screen terminal.wait
    """,
    VIEW + "*": """
        recording.get recording.list recording.read recording.watch terminal.list terminal.viewers terminal.watch
        preview.host sandbox.list sandbox.watch
    """,
    PREVIEW: "port.connect",
    CONTROL: "backup.pack backup.unpack runtime.activity runtime.configure",
    "access*": "audit.list share.create share.list share.revoke token.create token.list token.revoke",
}
NEED: Final = {method: right for right, methods in NEEDS.items() for method in methods.split()}

VIEWING: Final = {VIEW, VIEW + "@", VIEW + "*"}
WRITING: Final = {*VIEWING, WRITE, WRITE + "@", WRITE + "*"}
OPERATING: Final = {*WRITING, OPERATE, OPERATE + "*", PREVIEW}
OWNING: Final = {*OPERATING, "access*"}
ANYWHERE: Final = {need for need in NEEDS if need.endswith("*")}


# The callers, with their rights at the gateway, in the sandbox `local` and at its terminal.
CALLERS: Final[Mapping[str, tuple[tuple[str, ...], set[str]]]] = {
    "owner": (("*",), OWNING),
    "operator": (("operate",), OPERATING),
    "writer": (("write",), WRITING),
    "viewer": (("view",), VIEWING),
    "viewer of the sandbox": (("view/local",), VIEWING),
    "writing link": (("write/local@main",), {VIEW + "@", VIEW + "*", WRITE + "@", WRITE + "*"}),
    "viewing link": (("view/local@main",), {VIEW + "@", VIEW + "*"}),
    "link to another terminal": (("view/local@other",), {VIEW + "*"}),
    "other tenant": (("*/~",), ANYWHERE),
    "owner of another sandbox": (("*/other",), ANYWHERE),
    "link to another sandbox": (("view/other@main",), {VIEW + "*"}),
    "machine": (("join/local",), set()),
    "user without rights": ((), set()),
}
# Callers for whom the sandbox does not exist.
STRANGERS: Final = ("other tenant", "owner of another sandbox", "link to another sandbox", "user without rights")

# Routes that answer without a credential, and why.
PUBLIC: Final[Mapping[str, str]] = {
    "/healthz": "for probes of orchestrators; it contains the version only",
    "/v1/login/info": "the page asks how its user can sign in; it contains the name of the identity provider only",
    "/v1/join": "a machine is refused after the upgrade, and is told whether it may try again",
    "/v1/connect": "the caller is refused after the upgrade, so that browsers show the reason",
}
# Additional public routes of a gateway with an OpenID provider.
OF_LOGIN: Final[Mapping[str, str]] = {
    "/v1/login": "sends the browser to the provider",
    "/v1/login/callback": "ends a login; only the provider can confirm one (tests/gateway/sign_on/oidc/test_login.py)",
}
# Routes that require a credential, with their HTTP methods.
PROTECTED: Final[Mapping[str, set[str]]] = {
    "/metrics": {"GET", "HEAD"},
    "/v1/session": {"GET", "HEAD", "POST", "DELETE"},
    "/v1/tickets": {"POST"},
    "/v1/sandboxes/{sandbox}/recordings/{name}.cast": {"GET", "HEAD"},
    "/v1/openapi.json": {"GET", "HEAD"},
    "/v1/sandboxes/{sandbox}/files/{path:path}": {"GET", "HEAD", "PUT", "DELETE"},
    "/v1/sandboxes/{sandbox}/{method}": {"POST"},
    "/v1/{method}": {"POST"},
    "/v1/{rest:path}": set(),  # all methods: an unknown path
}


@asynccontextmanager
async def serve(folder: Path) -> AsyncIterator[Gateway]:
    async with FakeRuntime(folder / "runtime.sock") as runtime, Gateway(runtime) as gateway:
        yield gateway


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with serve(tmp_path) as gateway:
        yield gateway


def test_it_is_decided_which_right_each_method_needs() -> None:
    assert sorted(NEED) == sorted([*METHODS, *GATEWAY])
    assert len(NEED) == sum(len(methods.split()) for methods in NEEDS.values()), "a method is in two lists"


async def outcome(client: Any, method: str) -> str:
    """Return the code of a call's error. Calls have no effect, since none has valid parameters.

    `allowed`: the gateway has forwarded the call to a runtime without methods, or has refused its parameters.
    """
    gateway_method = method in GATEWAY
    params = {"id": "local" if gateway_method else "main", "sandbox": "local", "not-a-parameter": 1}
    try:
        await client.ask(method, params, sandbox=None if gateway_method else "local")
    except HawseError as error:
        return "allowed" if error.code in ("unknown_method", "invalid_params") else error.code
    return "allowed"


@pytest.mark.parametrize("caller", CALLERS)
async def test_each_caller_may_call_what_was_decided(served: Gateway, caller: str) -> None:
    rights, allowed = CALLERS[caller]
    principal = Principal(id="somebody", name="", kind="user", rights=rights)
    owner = served.credentials.find(TOKEN)
    assert owner is not None
    token, _ = await served.credentials.create("token", principal, owner)
    await served.sandboxes.own("local", "ada")
    found, expected = {}, {}
    async with served.peer(token=token) as client:
        for method, need in NEED.items():
            found[method] = await outcome(client, method)
            hidden = caller in STRANGERS and (method in METHODS or GATEWAY[method].target is not None)
            refusal = "not_found" if hidden else "forbidden"
            selected = need in ANYWHERE and method in GATEWAY  # these do not name a sandbox
            expected[method] = "allowed" if need in allowed and (selected or not hidden) else refusal
    assert found == expected


@pytest.mark.parametrize("token", ["nobody", "expired", "revoked"])
async def test_no_method_is_called_without_a_valid_token(served: Gateway, token: str) -> None:
    async with http_client(served.url, headers=await invalid(served, token)) as http:
        for method in NEED:
            path = f"/v1/{method}" if method in GATEWAY else f"/v1/sandboxes/local/{method}"
            answer = await http.post(path, json={})
            assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated"), method


async def invalid(gateway: Gateway, kind: str) -> dict[str, str]:
    """Return the headers of an unauthenticated caller."""
    if kind == "nobody":
        return {}
    owner = gateway.credentials.find(TOKEN)
    assert owner is not None
    lifetime = -1.0 if kind == "expired" else None
    token, row = await gateway.credentials.create("token", owner.principal, owner, lifetime=lifetime)
    if kind == "revoked":
        await gateway.credentials.revoke(row.id)
    assert (row.id in gateway.store.tables[TABLE]) == (kind == "expired")
    return {"Authorization": f"Bearer {token}"}


@pytest.mark.parametrize("token", ["nobody", "expired", "revoked"])
async def test_each_route_is_public_by_decision_or_needs_a_token(served: Gateway, token: str) -> None:
    mounts = [route.path for route in served.app.routes if isinstance(route, Mount)]
    assert mounts == [""], "only the files of the page, which are public, are mounted"
    routes = [route for route in served.app.routes if not isinstance(route, Mount)]
    found: dict[str, set[str]] = {}
    for route in routes:
        assert isinstance(route, Route | WebSocketRoute)
        found.setdefault(route.path, set()).update(getattr(route, "methods", None) or ())
    assert {path: methods for path, methods in found.items() if path not in PUBLIC} == PROTECTED
    assert found.keys() == {*PUBLIC, *PROTECTED}
    async with http_client(served.url, headers=await invalid(served, token)) as http:
        for path, methods in PROTECTED.items():
            url = re.sub(r"\{(\w+)(:path)?\}", lambda part: SAMPLES[part[1]], path)
            for method in methods or {"GET", "POST", "DELETE"}:
                answer = await http.request(method, url)
                assert answer.status_code == 401, (method, path)


async def test_an_openid_provider_adds_the_routes_of_the_login_only(served: Gateway, tmp_path: Path) -> None:
    oidc = OidcSettings(issuer="http://127.0.0.1:1", client_id="me", roles=["*=viewer"])
    async with FakeRuntime(tmp_path / "other.sock") as runtime:
        found = {getattr(route, "path", "") for route in Gateway(runtime, oidc=oidc).app.routes}
    assert found - {getattr(route, "path", "") for route in served.app.routes} == OF_LOGIN.keys()


SAMPLES: Final = {"sandbox": "local", "name": "r-1", "path": "etc/passwd", "method": "exec", "rest": "a/b"}


async def test_a_foreign_sandbox_and_one_that_does_not_exist_have_equal_answers(served: Gateway) -> None:
    tenant = Principal(id="eve", name="", kind="user", rights=("*/~",))
    owner = served.credentials.find(TOKEN)
    assert owner is not None
    token, _ = await served.credentials.create("token", tenant, owner)
    await served.sandboxes.own("local", "ada")
    headers = {"Authorization": f"Bearer {token}"}
    async with http_client(served.url, headers=headers) as http:
        for path in ("/v1/sandboxes/NAME/exec", "/v1/sandboxes/NAME/files/x", "/v1/sandboxes/NAME/recordings/r.cast"):
            method = "POST" if path.endswith("exec") else "GET"
            answers = [
                await http.request(method, path.replace("NAME", name), json={} if method == "POST" else None)
                for name in ("local", "other")
            ]
            first, second = (
                (answer.status_code, _without_request(answer.text.replace(name, "NAME")), sorted(answer.headers))
                for answer, name in zip(answers, ("local", "other"), strict=True)
            )
            assert first == second
            assert first[0] == 404
    assert served.sandboxes.starts == 0


def _without_request(text: str) -> str:
    """Return an answer without its random request id."""
    return re.sub(r'"request":"[0-9a-f]+"', "", text)
