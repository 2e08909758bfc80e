"""Channels as server-sent events: every byte, and the position to resume from."""

import base64
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from hawse.api import METHODS
from hawse.wire import Event, HawseError, Kind
from hawse_gateway.http.sse import SseEncoder, marks, message, since
from hawse_gateway.upstream.call import UpstreamItem

EXEC = METHODS["exec"]


def parsed(sent: bytes) -> list[dict[str, Any]]:
    """As a browser reads them."""
    found = []
    for block in sent.decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if line and not line.startswith(":"))
        if fields:
            found.append(fields | {"data": json.loads(fields["data"])})
    return found


def event(name: str, value: Any) -> Event:
    return Event(ch=1, name=name, value=msgspec.Raw(msgspec.json.encode(value)))


def content(event: dict[str, Any]) -> bytes:
    data = event["data"]
    return base64.b64decode(data["data"]) if "data" in data else data["text"].encode()


@given(st.lists(st.tuples(st.sampled_from([Kind.OUTPUT, Kind.STDERR]), st.binary(min_size=1, max_size=9)), max_size=30))
def test_every_byte_is_sent_once_in_order_and_with_its_offset(pieces: list[tuple[Kind, bytes]]) -> None:
    encoder = SseEncoder(EXEC)
    whole = {"stdout": b"", "stderr": b""}
    names = {Kind.OUTPUT: "stdout", Kind.STDERR: "stderr"}
    sent = b""
    for kind, data in pieces:
        sent += encoder.piece(UpstreamItem(kind, len(whole[names[kind]]), data))
        whole[names[kind]] += data
    sent += encoder.result({})
    streams = {"stdout": b"", "stderr": b""}
    for one in parsed(sent):
        if one["event"] in streams:
            assert one["data"]["offset"] == len(streams[one["event"]])
            streams[one["event"]] += content(one)
            assert one["id"] == f"{len(streams['stdout'])}-{len(streams['stderr'])}"
    assert streams == whole


@given(st.text(max_size=60), st.integers(1, 7))
def test_text_is_kept_for_any_division_into_pieces(text: str, size: int) -> None:
    encoder, data, sent = SseEncoder(EXEC), text.encode(), b""
    for at in range(0, len(data), size):
        sent += encoder.piece(UpstreamItem(Kind.OUTPUT, at, data[at : at + size]))
    sent += encoder.result(None)
    assert "".join(one["data"]["text"] for one in parsed(sent)[:-1]) == text


def test_an_incomplete_character_is_sent_before_the_next_event() -> None:
    encoder = SseEncoder(EXEC)
    assert encoder.piece(UpstreamItem(Kind.OUTPUT, 0, b"\xe2\x82")) == b""
    sent = parsed(encoder.event(event("exit", {"code": 0})))
    assert [one["event"] for one in sent] == ["stdout", "exit"]
    assert content(sent[0]) == b"\xe2\x82"


def test_a_reader_that_resumes_from_an_id_misses_nothing() -> None:
    encoder = SseEncoder(EXEC)
    encoder.event(event("opened", {"from": {"stdout": 100, "stderr": 7}}))
    sent = parsed(encoder.piece(UpstreamItem(Kind.OUTPUT, 100, b"abc")))
    assert since(EXEC, sent[0]["id"]) == {"stdout": 103, "stderr": 7}


def test_a_snapshot_has_no_id_to_resume_from() -> None:
    attach = METHODS["terminal.attach"]
    encoder = SseEncoder(attach)
    assert b"id:" not in encoder.event(event("opened", {"from": 9}))
    assert b"id:" not in encoder.piece(UpstreamItem(Kind.SCREEN, 0, b"x"))
    sent = parsed(encoder.piece(UpstreamItem(Kind.OUTPUT, 9, b"y")))
    assert (sent[0]["event"], since(attach, sent[0]["id"])) == ("output", 10)


def test_a_watch_resumes_from_its_version() -> None:
    watch = METHODS["watch.start"]
    sent = parsed(SseEncoder(watch).event(event("changes", {"version": "w-7", "changes": []})))
    assert since(watch, sent[0]["id"]) == "w-7"


@pytest.mark.parametrize("last", ["", "x", "1", "1-2-3", "-1-2", "1-²", "1.5-2", f"{'9' * 5000}-1"])
def test_an_invalid_id_is_refused(last: str) -> None:
    with pytest.raises(HawseError, match="invalid_params"):
        since(EXEC, last)


def test_streams_that_cannot_be_resumed_have_no_event_ids() -> None:
    assert marks(METHODS["recording.watch"]) == marks(METHODS["runtime.info"]) == ()
    with pytest.raises(HawseError, match="invalid_params"):
        since(METHODS["recording.watch"], "3")


def test_an_event_with_any_content_is_one_block() -> None:
    text = msgspec.json.encode({"text": "a\nb\r\n\ndata: x\u2028"})
    assert parsed(message("stdout", text)) == [{"event": "stdout", "data": json.loads(text)}]


def test_a_runtime_cannot_inject_events() -> None:
    watch = SseEncoder(METHODS["watch.start"])
    raw = b'{"version": "1\\nevent: x",\n\n"changes": []}'
    sent = parsed(watch.event(Event(ch=1, name="changes\n\nevent: y", value=msgspec.Raw(raw))))
    assert sent == [{"event": "changesevent: y", "data": {"version": "1\nevent: x", "changes": []}}]


def test_an_error_event_has_all_fields() -> None:
    error = HawseError("conflict", "taken", admitted="yes", details={"path": "/x"})
    assert parsed(SseEncoder(EXEC).error(error))[0]["data"] == {
        "code": "conflict",
        "message": "taken",
        "retryable": False,
        "admitted": "yes",
        "details": {"path": "/x"},
    }


def test_events_with_offsets_are_part_of_the_place() -> None:
    spec = METHODS["code.run"]
    encoder = SseEncoder(spec)
    start = {"stdout": 4, "stderr": 0, "bundles": 0, "events": 9}
    sent = encoder.event(event("opened", {"run": "r", "from": start}))
    sent += encoder.piece(UpstreamItem(Kind.OUTPUT, 4, b"ab"))
    sent += encoder.event(event("display", {"offset": 30, "data": {}}))
    sent += encoder.piece(UpstreamItem(Kind.SCREEN, 0, b"\xff"))
    found = parsed(sent)
    assert [one.get("id") for one in found] == [None, "6-0-0-9", "6-0-0-30", "6-0-1-30"]
    assert [one["event"] for one in found] == ["opened", "stdout", "display", "bundles"]
    assert since(spec, found[-1]["id"]) == {"stdout": 6, "stderr": 0, "bundles": 1, "events": 30}
    assert marks(METHODS["exec"]) == ("stdout", "stderr")
