from pathlib import Path

import pytest
from websockets.asyncio.server import ServerConnection, serve

from hawse.client.base.errors import RefusedError
from hawse.machine import Machine, MachineState
from hawse.machine.machine import state_directory
from hawse.wire.join import JoinAccepted, Quit, Refused, encode_join, parse_machine
from tests.support.machine import QUICK


def machine(port: int, tmp_path: Path, states: list[tuple[MachineState, str]]) -> Machine:
    return Machine(
        f"http://127.0.0.1:{port}",
        token="t",
        directory=tmp_path,
        state=tmp_path / "state",
        options=QUICK,
        on_state=lambda state, text: states.append((state, text)),
    )


async def test_it_connects_again_until_the_gateway_ends_it_and_says_that_it_has_ended(tmp_path: Path) -> None:
    answers = [Refused(code="unavailable", message="later", retryable=True), None, JoinAccepted(sandbox="a")]
    runtimes, left = set(), []
    states: list[tuple[MachineState, str]] = []

    async def gateway(websocket: ServerConnection) -> None:
        message = parse_machine(str(await websocket.recv()))
        runtimes.add(getattr(message, "runtime", None))
        answer = answers.pop(0)
        if answer is not None:
            await websocket.send(encode_join(answer))
        if not answers:
            await websocket.send(encode_join(Quit(reason="the sandbox was deleted")))
            left.append(parse_machine(str(await websocket.recv())))

    async with serve(gateway, "127.0.0.1", 0, subprotocols=["hawse.join.v1"]) as server:  # type: ignore[list-item]
        port = server.sockets[0].getsockname()[1]
        assert await machine(port, tmp_path, states).run() == "the sandbox was deleted"
    assert len(runtimes) == 1
    assert [one.reason for one in left] == ["the sandbox was deleted"]  # type: ignore[union-attr]
    assert (MachineState.WAITING, "later") in states
    assert states[-1] == (MachineState.JOINED, "a")


async def test_a_refusal_for_good_is_raised(tmp_path: Path) -> None:
    async def gateway(websocket: ServerConnection) -> None:
        await websocket.recv()
        await websocket.send(encode_join(Refused(code="conflict", message="another machine")))

    async with serve(gateway, "127.0.0.1", 0, subprotocols=["hawse.join.v1"]) as server:  # type: ignore[list-item]
        with pytest.raises(RefusedError, match="conflict: another machine"):
            await machine(server.sockets[0].getsockname()[1], tmp_path, []).run()


async def test_a_stop_while_there_is_no_connection_ends_it(tmp_path: Path) -> None:
    found = machine(1, tmp_path, [])
    found.stop()
    assert "ended it" in await found.run()


def test_the_state_directory_shows_no_token(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_directory("a secret") != state_directory("another secret")
    assert "secret" not in str(state_directory("a secret"))
    assert state_directory("a").parent == tmp_path / "hawse" / "join"


@pytest.mark.parametrize("url", ["ftp://host", "host"])
def test_an_address_that_is_none_is_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not a gateway URL"):
        Machine(url, token=None, directory=tmp_path)
