"""The limit of calls, with a clock of the test, and through a gateway."""

import httpx
import pytest

from gateway.limits.calls import CallRates
from hawse.wire import HawseError, Principal
from tests.support.gateway import VIEWER_TOKEN, FakeRuntime, Gateway

VIEWER = Principal(id="ann", name="", kind="user", rights=("view",), credential="token-1")
OWNER = Principal(id="owner", name="", kind="owner", rights=("*",))


def test_a_user_has_a_burst_and_a_rate_over_all_credentials() -> None:
    now = 0.0
    rates = CallRates(2, 4.0, clock=lambda: now)
    rates.check(VIEWER)
    rates.check(Principal(id="ann", name="", kind="user", rights=("view",), credential="token-2"))
    with pytest.raises(HawseError) as caught:
        rates.check(VIEWER)
    assert (caught.value.code, caught.value.details, caught.value.retryable) == (
        "limit_exceeded",
        {"retry_after": 0.25},
        True,
    )
    now = 0.25
    rates.check(VIEWER)


def test_a_caller_with_every_right_has_no_limit() -> None:
    rates = CallRates(1, 1.0, clock=lambda: 0.0)
    for _ in range(9):
        rates.check(OWNER)


async def test_calls_beyond_the_limit_are_refused_with_the_time_to_wait(runtime: FakeRuntime) -> None:
    headers = {"Authorization": f"Bearer {VIEWER_TOKEN}"}
    async with (
        Gateway(runtime, calls=CallRates(3, 0.001)) as gateway,
        gateway.peer(token=VIEWER_TOKEN) as peer,
        httpx.AsyncClient(headers=headers) as http,
    ):
        for _ in range(3):
            with pytest.raises(HawseError, match="unknown_method"):
                await peer.ask("terminal.list")
        with pytest.raises(HawseError, match="limit_exceeded") as caught:
            await peer.ask("terminal.list")
        assert 0 < caught.value.details["retry_after"] <= 1000
        response = await http.post(f"{gateway.url}/v1/sandboxes/local/terminal.list")
        assert response.status_code == 429
        assert 0 < int(response.headers["retry-after"]) <= 1000
        assert response.json()["details"]["retry_after"] > 0
    assert [call.method for call in runtime.seen] == ["terminal.list"] * 3
