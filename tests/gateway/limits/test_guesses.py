"""The limit of wrong credentials, with the test's own clock."""

import pytest
from websockets.exceptions import ConnectionClosed

from hawse.wire import HawseError
from hawse_gateway.limits.guesses import Guesses
from tests.support.gateway import TOKEN, VIEWER_TOKEN, FakeRuntime, Gateway
from tests.support.http_clients import http_client

HERE, NEIGHBOUR, ELSEWHERE = "192.0.2.7:1000", "192.0.2.7:2000", "192.0.2.8:1000"


class Clock:
    """A clock that stands still."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def refused(guesses: Guesses, address: str, credential: str | None) -> float | None:
    """Return `retry_after` if the request is refused."""
    try:
        guesses.check(address, credential)
    except HawseError as error:
        return float(error.details["retry_after"]) if error.code == "limit_exceeded" else None
    return None


def test_an_address_with_too_many_wrong_credentials_has_to_wait() -> None:
    clock = Clock()
    guesses = Guesses(3, 0.5, clock=clock)
    assert [refused(guesses, HERE, None) for _ in range(4)] == [None, None, None, 2.0]
    assert refused(guesses, ELSEWHERE, None) is None
    clock.now = 2.0
    assert refused(guesses, NEIGHBOUR, None) is None


def test_a_correct_credential_is_refused_too_while_the_address_is_blocked() -> None:
    clock = Clock()
    guesses = Guesses(1, 1.0, clock=clock)
    guesses.check(HERE, None)
    assert refused(guesses, HERE, "token-1") == pytest.approx(1.0)
    clock.now = 1.0
    assert refused(guesses, HERE, "token-1") is None


def test_a_credential_that_the_address_has_used_before_is_not_locked_out() -> None:
    guesses = Guesses(1, 1.0, clock=Clock())
    guesses.check(HERE, "token-1")
    for _ in range(9):
        refused(guesses, NEIGHBOUR, None)
    assert refused(guesses, HERE, "token-1") is None
    assert refused(guesses, ELSEWHERE, "token-1") is None


def test_correct_credentials_are_exchanged_with_other_gateways() -> None:
    guesses, changes = Guesses(1, 1.0, clock=Clock()), list[str]()
    guesses.on_known = lambda: changes.append("")
    guesses.check(HERE, "token-1")
    guesses.check(NEIGHBOUR, "token-1")
    assert (guesses.take_new(), guesses.take_new()) == ([("192.0.2.7", "token-1")], [])
    guesses.check(HERE, None)
    assert refused(guesses, HERE, "token-2") is not None
    assert (guesses.take_asked(), guesses.take_asked()) == ([("192.0.2.7", "token-2")], [])
    assert len(changes) == 2
    guesses.know(("192.0.2.7", "token-2"))
    assert refused(guesses, HERE, "token-2") is None


async def test_guessing_is_slowed_over_http_and_on_the_websocket(runtime: FakeRuntime) -> None:
    async with (
        Gateway(runtime, guesses=Guesses(2, 0.001)) as gateway,
        http_client(gateway.url) as http,
        gateway.peer() as owner,
    ):
        statuses = list[int]()
        for token in ("one", "two", "three", VIEWER_TOKEN, TOKEN):
            response = await http.post("/v1/tickets", headers={"Authorization": f"Bearer {token}"})
            statuses.append(response.status_code)
        assert statuses == [401, 401, 429, 429, 201]  # the owner was here before
        assert (await http.post("/v1/tickets")).status_code == 401  # without a token, nothing is guessed
        sign_in = await http.post("/v1/session", headers={"Authorization": "Bearer four"})
        assert sign_in.status_code == 429
        with pytest.raises(ConnectionClosed) as caught:
            async with gateway.peer(token="four"):
                pass
        assert caught.value.rcvd is not None
        assert caught.value.rcvd.code == 4429
        assert await owner.ask("answer", {"a": 1}) == {"a": 1}
