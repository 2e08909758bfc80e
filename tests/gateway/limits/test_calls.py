"""The limit of calls, with the test's own clock and through a gateway."""

import pytest

from hawse.wire import HawseError, Principal
from hawse_gateway.limits.calls import CallRates
from hawse_gateway.limits.quotas import Quotas, Who
from tests.support.gateway import VIEWER_TOKEN, FakeRuntime, Gateway
from tests.support.http_clients import http_client

VIEWER = Principal(id="ann", name="", kind="user", rights=("view",), credential="token-1")
OWNER = Principal(id="owner", name="", kind="owner", rights=("*",))
HERE = "192.0.2.1:1"


def quotas(number: int, who: Who = "user") -> Quotas:
    return Quotas({(who, "calls"): number})


def test_a_user_has_a_burst_and_a_rate_over_all_credentials() -> None:
    now = 0.0
    rates = CallRates(quotas(4), burst=0.5, clock=lambda: now)
    rates.check(VIEWER, HERE)
    rates.check(Principal(id="ann", name="", kind="user", rights=("view",), credential="token-2"), HERE)
    with pytest.raises(HawseError) as caught:
        rates.check(VIEWER, HERE)
    assert (caught.value.code, caught.value.details, caught.value.retryable) == (
        "limit_exceeded",
        {"retry_after": 0.25},
        True,
    )
    now = 0.25
    rates.check(VIEWER, HERE)


def test_each_address_has_its_own_limit() -> None:
    rates = CallRates(quotas(1, "address"), burst=1, clock=lambda: 0.0)
    rates.check(VIEWER, HERE)
    rates.check(VIEWER, "192.0.2.2:1")
    with pytest.raises(HawseError, match=r"192\.0\.2\.1"):
        rates.check(Principal(id="bob", name="", kind="user", rights=("view",), credential="token-2"), HERE)


def test_a_caller_with_every_right_has_no_limit() -> None:
    rates = CallRates(quotas(1), clock=lambda: 0.0)
    for _ in range(99):
        rates.check(OWNER, HERE)


async def test_calls_beyond_the_limit_are_refused_with_the_time_to_wait(runtime: FakeRuntime) -> None:
    headers = {"Authorization": f"Bearer {VIEWER_TOKEN}"}
    async with (
        Gateway(runtime, calls=CallRates(quotas(1, "link"), burst=3, clock=lambda: 0.0)) as gateway,
        gateway.peer(token=VIEWER_TOKEN) as peer,
        http_client(headers=headers) as http,
    ):
        for _ in range(3):
            with pytest.raises(HawseError, match="unknown_method"):
                await peer.ask("terminal.list")
        with pytest.raises(HawseError, match="limit_exceeded") as caught:
            await peer.ask("terminal.list")
        assert caught.value.details == {"retry_after": 1.0}
        response = await http.post(f"{gateway.url}/v1/sandboxes/local/terminal.list")
        assert (response.status_code, response.headers["retry-after"]) == (429, "1")
        assert response.json()["details"]["retry_after"] > 0
    assert [call.method for call in runtime.seen] == ["terminal.list"] * 3


async def test_a_user_may_attach_to_as_many_terminals_as_its_limit_says(runtime: FakeRuntime) -> None:
    async with (
        Gateway(runtime, limit=["link:terminals=1"]) as gateway,
        gateway.peer(token=VIEWER_TOKEN) as peer,
        gateway.peer() as owner,
    ):
        first = await peer.call("terminal.attach", {"id": "main"})
        with pytest.raises(HawseError, match="unknown_method"):  # the fake runtime ends it, and another may begin
            await peer.result(first)
        runtime.mute = True
        await peer.call("terminal.attach", {"id": "main"})
        await runtime.until(lambda: len(runtime.seen) == 2)
        with pytest.raises(HawseError, match=r"limit_exceeded: the link 'viewer' has 1 terminals, which is the limit"):
            await peer.ask("terminal.attach", {"id": "main"})
        for _ in range(2):
            await owner.call("terminal.attach", {"id": "main"})
        await runtime.until(lambda: len(runtime.seen) == 4)
