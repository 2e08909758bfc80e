"""The client's items for events of `egress.watch`."""

import msgspec

from hawse.api.egress import EgressLost, EgressRequest, EgressWatch
from hawse.api.spec import Nothing
from hawse.client.egress import LANE, EgressWatchCall
from hawse.wire import Event


def event(name: str, value: object) -> Event:
    return Event(ch=1, name=name, value=msgspec.Raw(msgspec.json.encode(value)))


async def test_a_repeated_watch_leaves_out_what_was_received() -> None:
    call = EgressWatchCall(EgressWatch(id="a"), window=100_000)
    one, two = EgressRequest(time=1.0, host="a.test"), EgressRequest(time=2.0, host="b.test")
    call.opening()
    call.receive_event(event("request", one))
    call.receive_event(event("live", Nothing()))
    call.opening()
    for found in (one, two):
        call.receive_event(event("request", found))
    call.receive_event(event("lost", EgressLost(count=3)))
    received = [(await call.receive_buffer.get(LANE))[1] for _ in range(3)]
    assert received == [one, two, EgressLost(count=3)]
