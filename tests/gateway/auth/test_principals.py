"""The gateway's principals: their fields in `welcome`, and that each call on a link carries the caller's."""

import json

import msgspec
import pytest

from hawse.wire import HawseError
from hawse_gateway.auth.principals import GATEWAY, OWNER, PREVIEW, check_link, role_of
from tests.support.gateway import TOKEN, VIEWER_TOKEN, FakeRuntime, Gateway
from tests.support.principals import VIEWER


def test_only_the_owner_and_the_gateway_itself_have_every_right() -> None:
    rights = {principal.id: principal.rights for principal in (OWNER, VIEWER, PREVIEW, GATEWAY)}
    assert rights == {"owner": ("*",), "viewer": ("view",), "preview": ("preview",), "gateway": ("*", "control")}


def test_a_principal_has_the_role_that_its_rights_make() -> None:
    assert [role_of(principal) for principal in (OWNER, VIEWER, PREVIEW)] == ["owner", "viewer", "viewer"]


def test_a_runtime_that_does_not_check_rights_gets_only_calls_of_principals_with_every_right() -> None:
    check_link(OWNER, [])
    check_link(GATEWAY, [])
    check_link(VIEWER, ["principals"])
    for principal in (VIEWER, PREVIEW):
        with pytest.raises(HawseError, match="forbidden"):
            check_link(principal, ["roles"])


async def test_the_runtime_receives_the_tokens_principal_and_never_the_clients(
    gateway: Gateway, runtime: FakeRuntime
) -> None:
    async with gateway.peer() as owner, gateway.peer(token=VIEWER_TOKEN) as viewer:
        await owner.ask("answer", {"who": 1}, principal=VIEWER)
        await viewer.ask("answer", {"who": 2}, principal=OWNER)
    seen = [call.principal for call in runtime.seen]
    assert seen == [OWNER, msgspec.structs.replace(VIEWER, credential="viewer")]


async def test_a_principal_that_a_client_sends_does_not_open_a_method_of_the_gateway(gateway: Gateway) -> None:
    async with gateway.peer(token=VIEWER_TOKEN) as viewer:
        with pytest.raises(HawseError, match="forbidden"):
            await viewer.ask("share.list", sandbox=None, principal=OWNER)


async def test_welcome_contains_identity_and_role_by_token_and_by_ticket(gateway: Gateway) -> None:
    welcomes = []
    for token, query in [
        (TOKEN, ""),
        (VIEWER_TOKEN, ""),
        (None, f"?ticket={gateway.tickets.issue(gateway.credentials.find(TOKEN))}"),
        (None, f"?ticket={gateway.tickets.issue(gateway.credentials.find(VIEWER_TOKEN))}"),
    ]:
        async with gateway.dial(token=token, query=query) as ws:
            await ws.send(json.dumps({"type": "hello", "protocol": 1, "client": "t", "window": 1}))
            welcome = json.loads(await ws.recv())
            welcomes.append((welcome["identity"], welcome["role"]))
    assert welcomes == [("owner", "owner"), ("viewer", "viewer")] * 2


async def test_a_runtime_that_does_not_check_rights_gets_no_call_of_a_viewer(
    gateway: Gateway, runtime: FakeRuntime
) -> None:
    runtime.abilities = ["roles"]
    async with gateway.peer(token=VIEWER_TOKEN) as viewer:
        with pytest.raises(HawseError, match="too old to check rights"):
            await viewer.ask("answer")
    assert runtime.seen == []
