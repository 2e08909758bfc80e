"""The limit of wrong credentials, with the test's own clock."""

import pytest
from websockets.exceptions import ConnectionClosed

from hawse.wire import HawseError
from hawse_gateway.limits.failed_attempts import FailedAttempts
from tests.support.gateway import TOKEN, VIEWER_TOKEN, FakeRuntime, Gateway
from tests.support.http_clients import http_client

HERE, NEIGHBOUR, ELSEWHERE = "192.0.2.7:1000", "192.0.2.7:2000", "192.0.2.8:1000"


class Clock:
    """A clock that stands still."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def refused(failed_attempts: FailedAttempts, address: str, credential: str | None) -> float | None:
    """Return `retry_after` if the request is refused."""
    try:
        failed_attempts.check(address, credential)
    except HawseError as error:
        return float(error.details["retry_after"]) if error.code == "limit_exceeded" else None
    return None


def test_an_address_with_too_many_wrong_credentials_has_to_wait() -> None:
    clock = Clock()
    failed_attempts = FailedAttempts(3, 0.5, clock=clock)
    assert [refused(failed_attempts, HERE, None) for _ in range(4)] == [None, None, None, 2.0]
    assert refused(failed_attempts, ELSEWHERE, None) is None
    clock.now = 2.0
    assert refused(failed_attempts, NEIGHBOUR, None) is None


def test_a_correct_credential_is_refused_too_while_the_address_is_blocked() -> None:
    clock = Clock()
    failed_attempts = FailedAttempts(1, 1.0, clock=clock)
    failed_attempts.check(HERE, None)
    assert refused(failed_attempts, HERE, "token-1") == pytest.approx(1.0)
    clock.now = 1.0
    assert refused(failed_attempts, HERE, "token-1") is None


def test_a_credential_that_the_address_has_used_before_is_not_locked_out() -> None:
    failed_attempts = FailedAttempts(1, 1.0, clock=Clock())
    failed_attempts.check(HERE, "token-1")
    for _ in range(9):
        refused(failed_attempts, NEIGHBOUR, None)
    assert refused(failed_attempts, HERE, "token-1") is None
    assert refused(failed_attempts, ELSEWHERE, "token-1") is None


def test_correct_credentials_are_exchanged_with_other_gateways() -> None:
    failed_attempts, changes = FailedAttempts(1, 1.0, clock=Clock()), list[str]()
    failed_attempts.on_known = lambda: changes.append("")
    failed_attempts.check(HERE, "token-1")
    failed_attempts.check(NEIGHBOUR, "token-1")
    assert (failed_attempts.take_new(), failed_attempts.take_new()) == ([("192.0.2.7", "token-1")], [])
    failed_attempts.check(HERE, None)
    assert refused(failed_attempts, HERE, "token-2") is not None
    assert (failed_attempts.take_asked(), failed_attempts.take_asked()) == ([("192.0.2.7", "token-2")], [])
    assert len(changes) == 2
    failed_attempts.know(("192.0.2.7", "token-2"))
    assert refused(failed_attempts, HERE, "token-2") is None


async def test_guessing_is_slowed_over_http_and_on_the_websocket(runtime: FakeRuntime) -> None:
    async with (
        Gateway(runtime, failed_attempts=FailedAttempts(2, 0.001)) as gateway,
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
