"""The streams that only send."""

import pytest

from hawse.rpc.output_stream import LatestValueStream
from tests.support.runtime import Client, Served


@pytest.mark.parametrize(("method", "params"), [("port.watch", {}), ("watch.start", {"path": "."})])
async def test_input_is_refused(client: Client, method: str, params: dict[str, str]) -> None:
    stream = client.call(method, params)
    stream.send(b"x")
    error = await stream.refusal()
    assert (error.code, error.message) == ("protocol_error", f"{method} takes no input")


async def test_the_end_of_the_input_has_no_effect(client: Client, served: Served) -> None:
    stream = client.call("watch.start", {"path": "."})
    stream.end()
    await stream.event("watching")
    (served.workspace / "file").touch()
    await stream.event("changes")


class Channel:
    """The parts of a call and its connection that a stream uses."""

    method = "thing.watch"

    def __init__(self) -> None:
        self.credit = 0
        self.sent: list[object] = []
        self.wakes = 0

    def wake(self) -> None:
        self.wakes += 1

    def window(self, ch: int) -> int:
        return self.credit

    def send_event(self, ch: int, name: str, value: object) -> None:
        self.sent.append((name, value))


def test_changes_without_credit_are_sent_as_one() -> None:
    channel, value = Channel(), 1
    detached: list[LatestValueStream] = []
    stream = LatestValueStream(channel, "things", lambda: value, detached.append)  # type: ignore[arg-type]

    def pull() -> list[object]:
        assert not stream.pull(channel, 1, 1000)  # type: ignore[arg-type]
        return channel.sent

    assert pull() == []
    value = 2
    stream.changed()
    assert channel.wakes == 1
    channel.credit = 1
    assert pull() == [("things", 2)]
    assert pull() == [("things", 2)], "an unchanged value is not sent again"
    stream.detach()
    assert detached == [stream]
