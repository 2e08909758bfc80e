"""Encodes a channel as server-sent events named after its events and byte streams (docs/wire.md section 11). No I/O.

Bytes are sent as `text` if they are valid UTF-8, or else as base64 `data`. A client can resume from an `id`. Only
output bytes and events with an offset have an `id`. If the connection is lost during a snapshot, the client therefore
receives the whole snapshot once more.
"""

import base64
import codecs
import re
from typing import Any, Final, get_args, get_type_hints

import msgspec

from hawse.api import Spec
from hawse.wire import Event, HawseError, Kind
from hawse_gateway.http.responses import problem
from hawse_gateway.upstream.call import UpstreamItem

MEDIA_TYPE: Final = "text/event-stream"
HEARTBEAT: Final = b": still here\n\n"
_SINCE: Final = "since"
_EVENTS: Final = "events"  # the field in `since` that contains the offset of events
_OFFSET = re.compile(r"[0-9]{1,19}")


class SseEncoder:
    """The encoder for one channel. It buffers at most 3 bytes per stream: the start of an incomplete character."""

    def __init__(self, spec: Spec) -> None:
        self._names = spec.output
        self._marks = marks(spec)
        self._places: dict[str, int | str] = {}  # offset of the next byte, keyed by stream
        self._halves: dict[str, tuple[int, bytes]] = {}  # an incomplete character's offset and bytes, keyed by stream

    def event(self, event: Event) -> bytes:
        flushed = self._flush()
        value = msgspec.json.decode(event.value)
        if isinstance(value, dict) and event.name in ("opened", "reseed", "truncated"):
            self._move(value.get("from"), value.get("stream"))
        place = None
        if self._marks == ("version",) and isinstance(value, dict) and isinstance(value.get("version"), str):
            place = value["version"]
        if _EVENTS in self._marks and isinstance(value, dict) and isinstance(value.get("offset"), int):
            self._places[_EVENTS] = value["offset"]
            place = self._place()
        return flushed + message(event.name, msgspec.json.encode(value), place)

    def piece(self, piece: UpstreamItem) -> bytes:
        name = self._names[piece.kind - Kind.OUTPUT]
        offset, data = self._halves.pop(name, (piece.offset, b""))
        data += piece.payload
        half = _half(data)
        if half:
            self._halves[name] = (offset + len(data) - half, data[len(data) - half :])
            data = data[: len(data) - half]
        return self._bytes(name, offset, data)

    def result(self, value: Any) -> bytes:
        return self._flush() + message("result", msgspec.json.encode(value))

    def error(self, error: HawseError) -> bytes:
        return self._flush() + message("error", msgspec.json.encode(problem(error)))

    def _flush(self) -> bytes:
        halves, self._halves = self._halves, {}
        return b"".join(self._bytes(name, offset, data) for name, (offset, data) in halves.items())

    def _bytes(self, name: str, offset: int, data: bytes) -> bytes:
        if not data:
            return b""
        value: dict[str, Any] = {"offset": offset}
        try:
            value["text"] = data.decode()
        except UnicodeDecodeError:
            value["data"] = base64.b64encode(data).decode()
        place = None
        if name in self._marks:
            self._places[name] = offset + len(data)
            place = self._place()
        return message(name, msgspec.json.encode(value), place)

    def _place(self) -> str:
        return "-".join(str(self._places.get(mark, 0)) for mark in self._marks)

    def _move(self, start: Any, stream: str | None) -> None:
        """Continue the output at another offset."""
        if isinstance(start, dict):
            self._places |= start
        elif isinstance(start, int) and self._marks:
            self._places[stream or self._marks[0]] = start


def marks(spec: Spec) -> tuple[str, ...]:
    """Return the fields for an `id`: the streams' offsets, or a `version`. Empty if the channel can't be resumed."""
    if _SINCE not in spec.params.__struct_fields__ or not spec.stream:
        return ()
    if spec.output:
        names = tuple(name for name in spec.output if name not in ("", "screen"))
        return (*names, _EVENTS) if _counts_events(spec) else names
    versions = any("version" in getattr(event, "__struct_fields__", ()) for event in spec.events.values())
    return ("version",) if versions else ()


def _counts_events(spec: Spec) -> bool:
    """Return whether events have offsets, which is the case if `since` has a field for events."""
    shape = get_type_hints(spec.params)[_SINCE]
    return any(_EVENTS in getattr(kind, "__struct_fields__", ()) for kind in get_args(shape))


def since(spec: Spec, last: str) -> Any:
    """Return the `since` parameter for a `Last-Event-ID`. Raises `HawseError` (`invalid_params`)."""
    names = marks(spec)
    if names == ("version",):
        return last
    parts = last.split("-")
    if not names or len(parts) != len(names) or not all(_OFFSET.fullmatch(part) for part in parts):
        raise HawseError(
            "invalid_params", f"`Last-Event-ID` {last[:50]!r} does not belong to this stream", details={"path": None}
        )
    offsets = [int(part) for part in parts]
    return offsets[0] if len(names) == 1 else dict(zip(names, offsets, strict=True))


def message(name: str, data: bytes, place: str | None = None) -> bytes:
    """Encode one event. The JSON in `data` contains no line breaks."""
    mark = f"id: {place}\n".encode() if place is not None and place.isprintable() else b""
    shown = "".join(char for char in name if char.isprintable())
    return mark + f"event: {shown}\n".encode() + b"data: " + data + b"\n\n"


def _half(data: bytes) -> int:
    """Return the number of bytes at the end of `data` that belong to an incomplete character."""
    for size in range(1, min(len(data), 3) + 1):
        if data[-size] >= 0xC0:  # the first byte of a multi-byte character
            try:
                return 0 if codecs.utf_8_decode(data[-size:], "strict", False)[0] else size
            except UnicodeDecodeError:
                return 0
        if data[-size] < 0x80:
            return 0
    return 0
