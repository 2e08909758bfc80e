import json
import logging
from contextlib import AsyncExitStack
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.support.gateway import TOKEN, VIEWER_TOKEN, FakeRuntime, Gateway
from tests.support.http_clients import http_client


async def ticket(gateway: Gateway) -> str:
    async with http_client() as http:
        answer = await http.post(f"{gateway.url}/v1/tickets", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 201
    made: str = answer.json()["ticket"]
    return made


async def refusal(gateway: Gateway, **options: Any) -> tuple[int, str]:
    """The HTTP status and the error's code of an upgrade that is denied."""
    with pytest.raises(InvalidStatus) as caught:
        async with gateway.dial(**options):
            pass
    response = caught.value.response
    assert response.headers["content-type"] == "application/json"
    return response.status_code, json.loads(response.body)["code"]


async def closing(gateway: Gateway, **options: Any) -> tuple[str, int | None]:
    """The error's code and the close code of a connection that is refused after the upgrade."""
    async with gateway.dial(**options) as ws:
        error = json.loads(await ws.recv())
        assert error["type"] == "error"
        with pytest.raises(ConnectionClosed):
            await ws.recv()
        return error["code"], ws.close_code


async def test_the_subprotocol_is_agreed_on(gateway: Gateway) -> None:
    async with gateway.dial(subprotocols=["other", "hawse.v1"]) as ws:
        assert ws.subprotocol == "hawse.v1"
        assert ws.response is not None
        assert "Sec-WebSocket-Extensions" not in ws.response.headers


async def test_no_message_is_compressed_even_if_the_client_offers_it(gateway: Gateway) -> None:
    async with gateway.dial(compression="deflate") as ws:
        assert ws.protocol.extensions == []


@pytest.mark.parametrize("subprotocols", [None, ["hawse.v2"], ["HAWSE.V1"]])
async def test_without_the_subprotocol_the_upgrade_is_a_bad_request(
    gateway: Gateway, subprotocols: list[str] | None
) -> None:
    assert await refusal(gateway, subprotocols=subprotocols) == (400, "protocol_error")


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1"])
async def test_a_foreign_origin_is_denied_even_with_the_token(gateway: Gateway, origin: str) -> None:
    assert await refusal(gateway, origin=origin) == (403, "origin_denied")


async def test_a_foreign_host_is_denied(gateway: Gateway) -> None:
    """DNS rebinding: the page is of evil.example, and so is, for the browser, this gateway."""
    headers = {"Origin": f"http://evil.example:{gateway.port}"}
    assert await refusal(gateway, name="evil.example", headers=headers) == (403, "origin_denied")


async def test_the_gateways_own_origin_and_allowed_origins_are_accepted(runtime: FakeRuntime) -> None:
    async with Gateway(runtime, origins=["https://app.example"]) as gateway:
        for origin in (gateway.url, "https://app.example"):
            async with gateway.peer(origin=origin) as peer:
                await peer.ask("answer")


async def test_a_missing_or_wrong_token_is_reported_after_the_upgrade(gateway: Gateway) -> None:
    for token in (None, "wrong", "", TOKEN + "x"):
        assert await closing(gateway, token=token) == ("unauthenticated", 4401)
    assert gateway.connect.client_count == 0


async def test_a_ticket_is_accepted_once(gateway: Gateway) -> None:
    made = await ticket(gateway)
    async with gateway.peer(token=None, query=f"?ticket={made}") as peer:
        await peer.ask("answer")
    assert await closing(gateway, token=None, query=f"?ticket={made}") == ("unauthenticated", 4401)


@pytest.mark.parametrize("query", ["?ticket=", "?ticket=wrong", "?ticket=%00%ff", "?x=y", "?" + "a" * 4000])
async def test_a_wrong_ticket_is_refused(gateway: Gateway, query: str) -> None:
    assert await closing(gateway, token=None, query=query) == ("unauthenticated", 4401)


async def test_only_the_first_of_several_tickets_is_checked(gateway: Gateway) -> None:
    made = await ticket(gateway)
    assert await closing(gateway, token=None, query=f"?ticket=x&ticket={made}") == ("unauthenticated", 4401)


async def test_a_ticket_is_not_used_up_by_an_upgrade_that_is_denied(gateway: Gateway) -> None:
    made = await ticket(gateway)
    query = f"?ticket={made}"
    assert await refusal(gateway, token=None, query=query, origin="http://evil.example") == (403, "origin_denied")
    async with gateway.peer(token=None, query=query) as peer:
        await peer.ask("answer")


async def test_connections_are_limited(runtime: FakeRuntime) -> None:
    async with Gateway(runtime, max_connections=2) as gateway:
        async with gateway.peer(), gateway.peer() as second:
            assert await closing(gateway) == ("limit_exceeded", 4429)
            await second.ask("answer")
        await gateway.until_clients_closed()
        async with gateway.peer():
            pass


async def test_viewers_leave_connections_to_the_owner(runtime: FakeRuntime) -> None:
    async with Gateway(runtime, max_connections=4) as gateway, AsyncExitStack() as viewers:
        for _ in range(3):
            await viewers.enter_async_context(gateway.peer(token=VIEWER_TOKEN))
        assert await closing(gateway, token=VIEWER_TOKEN) == ("limit_exceeded", 4429)
        async with gateway.peer() as owner:
            await owner.ask("answer")


async def test_every_client_receives_goaway_before_the_gateway_ends(gateway: Gateway) -> None:
    async with gateway.peer() as first, gateway.peer() as second:
        gateway.connect.go_away("the gateway restarts", 2.5)
        for peer in (first, second):
            goaway = await peer.receive()
            assert (goaway.type, goaway.reason, goaway.retry_after) == ("goaway", "the gateway restarts", 2.5)
            with pytest.raises(ConnectionClosed):
                await peer.receive()
            assert peer.ws.close_code == 1012
        await gateway.until_clients_closed()


async def test_calls_are_not_cancelled_when_the_gateway_ends(gateway: Gateway, runtime: FakeRuntime) -> None:
    """The runtime notices the loss of the link, and then keeps the writer lease for longer."""
    async with gateway.peer() as peer:
        await peer.call("hang")
        await runtime.until(lambda: runtime.calls)
        gateway.connect.go_away("the gateway restarts", 2.5)
        await gateway.until_clients_closed()
        async with gateway.peer() as other:
            await other.ask("answer")  # what was sent on the link before has arrived
        assert runtime.cancelled == []


async def test_no_token_and_no_ticket_is_logged(gateway: Gateway, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="hawse_gateway"):
        made = await ticket(gateway)
        async with gateway.peer(token=None, query=f"?ticket={made}") as peer:
            await peer.ask("answer")
        await closing(gateway, token=None, query=f"?ticket={made}")
        await gateway.until_clients_closed()
    assert "connected" in caplog.text
    assert made not in caplog.text
    assert TOKEN not in caplog.text
