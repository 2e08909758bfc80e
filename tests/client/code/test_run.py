"""`code.run` from the client's side: what it sends after a lost connection, and what is reported as missing."""

from typing import Any

import msgspec
import pytest

from hawse.api.code import CodeAttach, CodeRun, CodeSince
from hawse.client.calls.receive_buffer import BufferedChunk
from hawse.client.code.results import CodeEnd, CodeLost, RichResult
from hawse.client.code.run import CodeRunCall
from hawse.wire import Data, Event, HawseError, Kind, RemoteProtocolError


def event(name: str, **value: Any) -> Event:
    return Event(ch=1, name=name, value=msgspec.Raw(msgspec.json.encode(value)))


def opened(**start: int) -> Event:
    return event("opened", run="r", **{"from": {"stdout": 0, "stderr": 0, "bundles": 0, "events": 0} | start})


async def make(params: CodeRun | CodeAttach | None = None) -> CodeRunCall:
    return CodeRunCall(params or CodeRun(source="1"), sandbox="s", key=None, window=1 << 16)


async def items(call: CodeRunCall) -> list[Any]:
    """Everything that was received and not read, after the end."""
    found: list[Any] = []
    while True:
        try:
            _, item = await call.receive_buffer.get()
        except StopAsyncIteration:
            return found
        found.append((item.offset, bytes(item.data)) if isinstance(item, BufferedChunk) else item)


async def test_a_repeat_continues_each_stream_and_repeated_output_is_dropped() -> None:
    call = await make()
    assert call.key is not None
    assert call.params() == CodeRun(source="1")
    call.receive_event(opened())
    call.receive_data(Data(Kind.OUTPUT, 1, 0, b"abc"))
    call.receive_data(Data(Kind.SCREEN, 1, 0, b"im"))
    call.receive_event(event("display", offset=40, data={"text/plain": "x"}))
    assert call.params() == CodeRun(source="1", since=CodeSince(stdout=3, stderr=0, bundles=2, events=40))
    call.receive_event(opened(stdout=3, bundles=2, events=40))
    call.receive_event(event("display", offset=40, data={"text/plain": "x"}))
    call.receive_data(Data(Kind.SCREEN, 1, 2, b"age"))
    large = [{"type": "image/png", "offset": 0, "size": 5, "form": "base64"}]
    call.receive_event(event("value", offset=80, large=large, execution_count=1))
    end = {"stdout": 3, "bundles": 5, "events": 80}
    call.settle(msgspec.Raw(msgspec.json.encode({"status": "ok", "run": "r", "end": end})))
    assert await items(call) == [
        (0, b"abc"),
        RichResult("display", {"text/plain": "x"}),
        RichResult("value", {"image/png": b"image"}, execution_count=1),
    ]
    assert isinstance(await call.done, CodeEnd)


async def test_an_attach_names_the_run_that_it_found() -> None:
    call = await make(CodeAttach(context="c", since=CodeSince(stdout=2)))
    call.receive_event(opened(stdout=2))
    assert call.params() == CodeAttach(context="c", run="r", since=CodeSince(stdout=2, stderr=0, bundles=0, events=0))


async def test_what_is_missing_is_reported_in_its_place() -> None:
    call = await make()
    call.receive_event(opened(stdout=10, events=7))
    call.receive_data(Data(Kind.OUTPUT, 1, 10, b"a"))
    call.receive_event(event("truncated", stream="stdout", **{"from": 20}))
    call.receive_event(event("truncated", stream="bundles", **{"from": 9}))
    large = [{"type": "text/html", "offset": 0, "size": 9, "form": "text"}]
    call.receive_event(event("display", offset=50, large=large))
    call.settle(msgspec.Raw(b'{"status": "ok", "run": "r", "end": {"stdout": 21, "bundles": 9, "events": 50}}'))
    assert await items(call) == [
        CodeLost("stdout", 10),
        CodeLost("events", 7),
        (10, b"a"),
        CodeLost("stdout", 9),
        CodeLost("bundles", 9),
        RichResult("display", {}, omitted=("text/html",)),
        CodeLost("stdout", 1),
    ]


async def test_another_run_under_the_same_key_is_not_taken_for_this_one() -> None:
    call = await make()
    call.receive_event(opened())
    with pytest.raises(HawseError, match="outcome_unknown"):
        call.receive_event(event("opened", run="other"))


async def test_large_values_without_an_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hawse.client.code.run.LARGE_LIMIT", 10)
    call = await make()
    call.receive_event(opened())
    with pytest.raises(RemoteProtocolError, match="large values"):
        call.receive_data(Data(Kind.SCREEN, 1, 0, b"x" * 11))
