"""`token.*` and `share.*` through a gateway: the rights that can be given, and the immediate effect of revoking."""

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

from hawse.wire import HawseError
from tests.support.gateway import TOKEN, FakeRuntime, Gateway, Peer
from tests.support.http_clients import http_client


@pytest.fixture
async def owner(gateway: Gateway) -> AsyncIterator[Peer]:
    async with gateway.peer() as peer:
        yield peer


async def make(peer: Peer, method: str, **params: Any) -> Any:
    return await peer.ask(method, params, sandbox=None)


async def refused(peer: Peer, method: str, params: Any = None, **options: Any) -> str:
    with pytest.raises(HawseError) as caught:
        await peer.ask(method, params, **options)
    return caught.value.code


async def test_a_token_is_listed_without_its_secret_and_with_its_connections(gateway: Gateway, owner: Peer) -> None:
    made = await make(owner, "token.create", name="ci", role="viewer", sandboxes=["local"], user="ci", expires_in=60)
    info = made["info"]
    assert (info["name"], info["user"], info["role"], info["sandboxes"]) == ("ci", "ci", "viewer", ["local"])
    assert info["expires"] - info["created"] == pytest.approx(60, abs=1)
    async with gateway.peer(token=made["token"]):
        listed = (await make(owner, "token.list"))["tokens"]
    mine = next(one for one in listed if one["id"] == info["id"])
    assert mine == info | {"connections": 1}
    assert made["token"] not in str(listed)


async def test_a_token_for_other_sandboxes_does_not_reveal_this_one(
    gateway: Gateway, owner: Peer, runtime: FakeRuntime
) -> None:
    token = (await make(owner, "token.create", role="owner", sandboxes=["other"], user="eve"))["token"]
    async with gateway.peer(token=token) as eve:
        errors = []
        for sandbox in ("local", "no-such"):
            with pytest.raises(HawseError) as caught:
                await eve.ask("answer", sandbox=sandbox)
            errors.append((caught.value.code, caught.value.message.replace(sandbox, "X"), caught.value.details))
        assert errors[0] == errors[1]
        assert errors[0][0] == "not_found"
        assert (await eve.ask("sandbox.list", sandbox=None))["sandboxes"] == []
        assert await refused(eve, "sandbox.get", {"id": "local"}, sandbox=None) == "not_found"
        assert await refused(eve, "sandbox.create", {}, sandbox=None) == "forbidden"
    assert (runtime.links, gateway.sandboxes.starts) == ([], 0)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("token.create", {"role": "viewer", "sandboxes": ["local"]}),
        ("token.create", {"role": "owner", "sandboxes": ["mine", "local"]}),
        ("token.create", {"user": "ada"}),
        ("share.create", {"sandbox": "local"}),
    ],
)
async def test_no_caller_gives_rights_that_it_lacks(
    gateway: Gateway, owner: Peer, method: str, params: dict[str, Any]
) -> None:
    token = (await make(owner, "token.create", role="owner", sandboxes=["mine"], user="eve"))["token"]
    async with gateway.peer(token=token) as eve:
        assert await refused(eve, method, params, sandbox=None) == "forbidden"
        given = await make(eve, "token.create")
        assert (given["info"]["user"], given["info"]["sandboxes"], given["info"]["role"]) == (
            "eve",
            ["mine"],
            "operator",
        )


@pytest.mark.parametrize("role", ["operator", "writer", "viewer"])
async def test_only_owners_give_access(gateway: Gateway, owner: Peer, role: str) -> None:
    token = (await make(owner, "token.create", role=role))["token"]
    async with gateway.peer(token=token) as other:
        for method in ("token.create", "token.list", "share.create", "share.list"):
            assert await refused(other, method, {}, sandbox=None) == "forbidden"


async def test_a_user_sees_and_revokes_only_its_own(gateway: Gateway, owner: Peer) -> None:
    mine = await make(owner, "share.create", sandbox="mine")
    token = (await make(owner, "token.create", role="owner", sandboxes=["mine"], user="eve"))["token"]
    async with gateway.peer(token=token) as eve:
        link = await make(eve, "share.create", sandbox="mine")
        assert [one["id"] for one in (await make(eve, "share.list"))["links"]] == [link["info"]["id"]]
        assert [one["user"] for one in (await make(eve, "token.list"))["tokens"]] == ["eve"]
        for id in (mine["info"]["id"], "link-unknown"):
            assert await refused(eve, "share.revoke", {"id": id}, sandbox=None) == "not_found"
        assert await refused(eve, "token.revoke", {"id": link["info"]["id"]}, sandbox=None) == "not_found"
        await make(eve, "share.revoke", id=link["info"]["id"])
    assert [one["id"] for one in (await make(owner, "share.list"))["links"]] == [mine["info"]["id"]]


async def test_a_link_opens_only_its_terminal(gateway: Gateway, owner: Peer, runtime: FakeRuntime) -> None:
    made = await make(owner, "share.create", sandbox="local", terminal="main", role="writer", name="Bob")
    assert made["path"] == f"/?sandbox=local&terminal=main#token={made['token']}"
    async with gateway.peer(token=made["token"]) as guest:
        assert await refused(guest, "terminal.screen", {"id": "main"}) == "unknown_method"  # it reached the runtime
        assert await refused(guest, "terminal.screen", {"id": "other"}) == "forbidden"
        assert await refused(guest, "exec", {"argv": ["id"]}) == "forbidden"
        assert await refused(guest, "terminal.screen", {"id": "main"}, sandbox="b") == "not_found"
        users = (await make(owner, "share.list"))["links"][0]["users"]
        assert [user["address"].partition(":")[0] for user in users] == ["127.0.0.1"]
    principal = runtime.seen[0].principal
    assert principal is not None
    assert (principal.name, principal.kind, principal.rights) == ("Bob", "guest", ("write@main",))


async def test_a_link_cannot_make_its_guest_an_operator(owner: Peer) -> None:
    for role in ("owner", "operator"):
        assert await refused(owner, "share.create", {"role": role}, sandbox=None) == "invalid_params"


async def test_revoking_closes_connections_and_responses_at_once(gateway: Gateway, owner: Peer) -> None:
    made = await make(owner, "share.create", sandbox="local")
    bearer = {"Authorization": f"Bearer {made['token']}"}
    async with gateway.peer(token=made["token"]) as guest, http_client() as http:
        stream = {"Accept": "text/event-stream", **bearer}
        async with http.stream("POST", f"{gateway.url}/v1/sandbox.watch", headers=stream) as response:
            assert response.status_code == 200
            await make(owner, "share.revoke", id=made["info"]["id"])
            with pytest.raises(httpx.RemoteProtocolError):
                await response.aread()
        error = await guest.receive()
        assert (error.type, error.code) == ("error", "unauthenticated")
        with pytest.raises(ConnectionClosed) as closed:
            await guest.receive()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4401
        answer = await http.post(f"{gateway.url}/v1/sandbox.list", headers=bearer)
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")


async def test_a_connection_ends_when_its_token_expires(gateway: Gateway, owner: Peer) -> None:
    for lifetime in (0.3, 1.0, 3.0, 10.0):
        token = (await make(owner, "token.create", expires_in=lifetime))["token"]
        with suppress(ConnectionClosed):  # without an error after `welcome`: a busy machine had connected too late
            async with gateway.peer(token=token) as peer:
                assert (await peer.receive()).code == "unauthenticated"
                return
    pytest.fail("no connection has ended with its token")


async def test_the_ticket_of_a_revoked_token_does_not_connect(gateway: Gateway, owner: Peer) -> None:
    made = await make(owner, "token.create", user="ada")
    async with http_client() as http:
        answer = await http.post(f"{gateway.url}/v1/tickets", headers={"Authorization": f"Bearer {made['token']}"})
    await make(owner, "token.revoke", id=made["info"]["id"])
    async with gateway.dial(token=None, query=f"?ticket={answer.json()['ticket']}") as ws:
        assert "unauthenticated" in str(await ws.recv())


async def test_a_secret_is_not_given_to_another_caller_with_the_same_key(gateway: Gateway, owner: Peer) -> None:
    token = (await make(owner, "token.create", role="owner", sandboxes=["mine"], user="eve"))["token"]
    params = {"sandbox": "mine"}
    first = await owner.ask("share.create", params, sandbox=None, key="k")
    assert await owner.ask("share.create", params, sandbox=None, key="k") == first
    async with gateway.peer(token=token) as eve:
        assert (await eve.ask("share.create", params, sandbox=None, key="k"))["token"] != first["token"]


async def test_the_owners_token_is_not_a_row_and_cannot_be_revoked(gateway: Gateway, owner: Peer) -> None:
    identity = gateway.credentials.find(TOKEN)
    assert identity is not None
    assert await refused(owner, "token.revoke", {"id": identity.credential}, sandbox=None) == "not_found"


async def test_a_user_shares_own_sandboxes_and_no_others(gateway: Gateway, owner: Peer) -> None:
    made = await make(owner, "token.create", role="owner", own=True, user="ada")
    assert (made["info"]["own"], made["info"]["sandboxes"]) == (True, [])
    async with gateway.peer(token=made["token"]) as ada:
        assert await refused(ada, "answer") == "not_found"
        assert await refused(ada, "share.create", {"sandbox": "local"}, sandbox=None) == "forbidden"
        assert await refused(ada, "token.create", {"sandboxes": ["local"]}, sandbox=None) == "forbidden"
        given = await make(ada, "token.create", role="viewer")
        assert (given["info"]["own"], given["info"]["user"], given["info"]["role"]) == (True, "ada", "viewer")
        await gateway.sandboxes.own("local", "ada")
        assert await ada.ask("answer") is not None
        link = await make(ada, "share.create", sandbox="local")
    async with gateway.peer(token=link["token"]) as guest:
        assert await refused(guest, "exec", {"command": "id"}) == "forbidden"
    assert await refused(owner, "token.create", {"own": True, "sandboxes": ["a"]}, sandbox=None) == "invalid_params"
