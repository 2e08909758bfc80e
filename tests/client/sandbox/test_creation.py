"""Sandboxes that are created or found by class methods of `Sandbox`, with a separate connection or a client's."""

from typing import Any

import pytest

import hawse
from hawse.api.sandboxes import SandboxPort
from hawse.client.sandbox.creation import SandboxCreation, SandboxOpening, create_params, with_own_connection
from hawse.wire import HawseError
from tests.support.fake_server import FakeServer


class Box:
    """A sandbox that notes what is done with it."""

    def __init__(self, error: HawseError | None = None) -> None:
        self.done: list[str] = []
        self.error = error

    async def delete(self) -> None:
        self.done.append("delete")
        if self.error is not None:
            raise self.error

    async def close(self) -> None:
        self.done.append("close")


def opening(kind: type[SandboxOpening], box: Box) -> Any:
    async def find() -> Any:
        return box

    return kind(find)


def test_options_that_are_not_given_are_not_sent() -> None:
    params = create_params("a", {"env": {"A": "1"}, "labels": None, "ports": (SandboxPort(port=80, name="a"), 443)})
    ports = [SandboxPort(port=80, name="a"), SandboxPort(port=443)]
    assert (params.id, params.env, params.labels, params.ports) == ("a", {"A": "1"}, {}, ports)
    wrong: Any = {"tempalte": "x"}
    with pytest.raises(TypeError, match="tempalte"):
        create_params("a", wrong)


async def test_what_was_found_is_closed_at_the_end_of_the_block_and_stays() -> None:
    box = Box()
    async with opening(SandboxOpening, box) as found:
        assert found is box
        assert box.done == []
    assert box.done == ["close"]
    assert await opening(SandboxOpening, box) is box


@pytest.mark.parametrize("code", [None, "not_found", "cleanup_pending"])
async def test_what_was_created_is_deleted_and_closed_at_the_end_of_the_block(code: str | None) -> None:
    box = Box(None if code is None else HawseError(code))
    with pytest.raises(ZeroDivisionError):
        async with opening(SandboxCreation, box):
            raise ZeroDivisionError
    assert box.done == ["delete", "close"]


async def test_a_deletion_that_fails_is_reported_after_the_connection_was_closed() -> None:
    box = Box(HawseError("forbidden"))
    with pytest.raises(HawseError, match="forbidden"):
        async with opening(SandboxCreation, box):
            pass
    assert box.done == ["delete", "close"]


async def test_a_sandbox_owns_the_connection_that_was_made_for_it(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HAWSE_URL", server.url)

    async def find(client: hawse.Client) -> hawse.Sandbox:
        return client.sandbox("a")

    box = await with_own_connection(find)
    states = [box.connection and box.connection.state]
    await box.close()
    await box.close()
    states.append(box.connection and box.connection.state)
    assert states == [hawse.ConnectionState.OPEN, hawse.ConnectionState.CLOSED]


async def test_a_sandbox_that_is_not_found_leaves_no_connection(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HAWSE_URL", server.url)
    made: list[hawse.Client] = []

    async def find(client: hawse.Client) -> hawse.Sandbox:
        made.append(client)
        raise HawseError("not_found")

    with pytest.raises(HawseError, match="not_found"):
        await with_own_connection(find)
    assert [client.state for client in made] == [hawse.ConnectionState.CLOSED]


async def test_a_sandbox_of_a_client_does_not_close_it(hw: hawse.Client) -> None:
    box = hw.sandbox()
    await box.close()
    assert hw.state is hawse.ConnectionState.OPEN
