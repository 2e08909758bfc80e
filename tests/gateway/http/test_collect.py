"""Channels as one JSON response."""

import base64
from typing import Any

import msgspec

from hawse.api import METHODS
from hawse.wire import Event, Kind
from hawse_gateway.http.collect import EVENTS_LIMIT, OUTPUT_LIMIT, CollectedStream
from hawse_gateway.upstream.call import UpstreamItem

END = {"code": 0, "stdout": 5, "stderr": 0}


def collected(method: str, *items: UpstreamItem | Event) -> CollectedStream:
    found = CollectedStream(METHODS[method])
    for item in items:
        found.add(item)
    return found


def event(name: str, value: Any) -> Event:
    return Event(ch=1, name=name, value=msgspec.Raw(msgspec.json.encode(value)))


def test_the_result_of_a_command_has_its_output_and_exit_code() -> None:
    answer = collected(
        "exec",
        event("opened", {}),
        UpstreamItem(Kind.OUTPUT, 0, "h\u00e9".encode()[:2]),
        UpstreamItem(Kind.STDERR, 0, b"no"),
        UpstreamItem(Kind.OUTPUT, 2, "h\u00e9".encode()[2:]),
    ).answer(END)
    assert answer == {"code": 0, "stdout": "h\u00e9", "stderr": "no", "encoding": "utf-8", "truncated": False}


def test_output_that_is_not_utf8_is_base64_and_marked() -> None:
    answer = collected("exec", UpstreamItem(Kind.OUTPUT, 0, b"\xff"), UpstreamItem(Kind.STDERR, 0, b"ok")).answer(END)
    assert (answer["encoding"], base64.b64decode(answer["stdout"])) == ("base64", b"\xff")
    assert base64.b64decode(answer["stderr"]) == b"ok"


def test_output_beyond_the_limit_is_cut_and_marked_as_truncated() -> None:
    half = b"x" * (OUTPUT_LIMIT // 2)
    found = collected("exec", UpstreamItem(Kind.OUTPUT, 0, half), UpstreamItem(Kind.OUTPUT, len(half), half))
    assert found.answer(END)["truncated"] is False
    found.add(UpstreamItem(Kind.OUTPUT, OUTPUT_LIMIT, b"y"))
    answer = found.answer(END)
    assert (answer["truncated"], answer["stdout"]) == (True, "x" * OUTPUT_LIMIT)


def test_events_are_collected_with_their_names_up_to_the_bound() -> None:
    found = collected("file.list", event("entries", {"entries": []}))
    assert msgspec.json.decode(msgspec.json.encode(found.answer({"entries": 0, "failed": 0}))) == {
        "entries": 0,
        "failed": 0,
        "events": [{"event": "entries", "data": {"entries": []}}],
        "truncated": False,
    }
    found.add(event("entries", {"entries": ["x" * EVENTS_LIMIT]}))
    answer = found.answer({})
    assert (len(answer["events"]), answer["truncated"]) == (1, True)


def test_output_that_was_no_longer_available_is_marked_as_truncated() -> None:
    assert collected("exec", event("truncated", {"stream": "stdout", "from": 9})).answer(END)["truncated"]


def test_a_plain_result_is_unchanged() -> None:
    assert collected("runtime.info").answer({"pid": 3}) == {"pid": 3}
