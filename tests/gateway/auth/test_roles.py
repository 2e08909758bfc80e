"""Two roles: what each may ask of the gateway, and how a runtime learns who calls."""

import json

import pytest

from gateway.auth.roles import OWNER, RIGHTS, VIEWER, check, check_link
from hawse.wire import HawseError
from tests.support.gateway import TOKEN, VIEWER_TOKEN, FakeRuntime, Gateway


def test_the_table_is_what_was_decided() -> None:
    assert dict(RIGHTS) == {"owner": None, "viewer": {"sandbox.list"}}


@pytest.mark.parametrize("role", [VIEWER, "", "root"])
@pytest.mark.parametrize("method", ["share.token", "sandbox.delete"])
def test_what_is_not_in_the_table_is_forbidden(role: str, method: str) -> None:
    check(OWNER, method)
    with pytest.raises(HawseError, match="forbidden"):
        check(role, method)


def test_only_owners_reach_a_runtime_that_heeds_no_roles() -> None:
    check_link(OWNER, [])
    check_link(VIEWER, ["roles"])
    with pytest.raises(HawseError, match="forbidden"):
        check_link(VIEWER, ["other"])


async def test_the_runtime_is_told_who_calls_and_a_client_s_own_word_is_nothing(
    gateway: Gateway, runtime: FakeRuntime
) -> None:
    async with gateway.peer() as owner, gateway.peer(token=VIEWER_TOKEN) as viewer:
        await owner.ask("answer", {"who": 1}, role="viewer")
        await viewer.ask("answer", {"who": 2}, role="owner")
    assert [call.role for call in runtime.seen] == ["owner", "viewer"]


async def test_welcome_says_the_role_by_token_and_by_ticket(gateway: Gateway) -> None:
    roles = []
    for token, query in [
        (TOKEN, ""),
        (VIEWER_TOKEN, ""),
        (None, f"?ticket={gateway.connect.tickets.issue('owner')}"),
        (None, f"?ticket={gateway.connect.tickets.issue('viewer')}"),
    ]:
        async with gateway.dial(token=token, query=query) as ws:
            await ws.send(json.dumps({"type": "hello", "protocol": 1, "client": "t", "window": 1}))
            roles.append(json.loads(await ws.recv())["role"])
    assert roles == ["owner", "viewer", "owner", "viewer"]


async def test_only_an_owner_is_given_the_token_to_share(gateway: Gateway) -> None:
    async with gateway.peer() as owner, gateway.peer(token=VIEWER_TOKEN) as viewer:
        assert await owner.ask("share.token", sandbox=None) == {"token": VIEWER_TOKEN, "role": "viewer"}
        with pytest.raises(HawseError, match="forbidden"):
            await viewer.ask("share.token", sandbox=None)
        assert (await viewer.ask("sandbox.list", sandbox=None))["sandboxes"]


async def test_a_viewer_is_turned_away_from_an_older_runtime(gateway: Gateway, runtime: FakeRuntime) -> None:
    runtime.abilities = []
    async with gateway.peer(token=VIEWER_TOKEN) as viewer:
        with pytest.raises(HawseError, match="older than roles"):
            await viewer.ask("answer")
    assert runtime.seen == []
