"""A channel as server-sent events: events by their names, bytes by that of their stream (docs/wire.md section 11).

Bytes travel as `text` where they are UTF-8, exactly, and as base64 `data` where not. An `id` names a place to go on
from; it is told only behind bytes, so that whoever was cut within a snapshot is given it again. Knows no I/O.
"""

import base64
import codecs
import re
from typing import Any, Final

import msgspec

from gateway.http.responses import problem
from gateway.http.upstream_call import UpstreamItem
from hawse.api import Spec
from hawse.wire import Event, HawseError, Kind

MEDIA_TYPE: Final = "text/event-stream"
HEARTBEAT: Final = b": still here\n\n"
_SINCE: Final = "since"
_OFFSET = re.compile(r"[0-9]{1,19}")


class SseEncoder:
    """Of one channel. What it returns is sent in order; it keeps at most 3 bytes of each stream, of a character that
    has not come whole."""

    def __init__(self, spec: Spec) -> None:
        self._names = spec.output
        self._marks = marks(spec)
        self._places: dict[str, int | str] = {}  # where each stream goes on
        self._halves: dict[str, tuple[int, bytes]] = {}  # offset and bytes of a character's beginning

    def event(self, event: Event) -> bytes:
        told = self._flush()
        value = msgspec.json.decode(event.value)
        if isinstance(value, dict) and event.name in ("opened", "reseed", "truncated"):
            self._move(value.get("from"), value.get("stream"))
        place = None
        if self._marks == ("version",) and isinstance(value, dict) and isinstance(value.get("version"), str):
            place = value["version"]
        return told + message(event.name, msgspec.json.encode(value), place)

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
            place = "-".join(str(self._places.get(mark, 0)) for mark in self._marks)
        return message(name, msgspec.json.encode(value), place)

    def _move(self, start: Any, stream: str | None) -> None:
        """The output goes on elsewhere."""
        if isinstance(start, dict):
            self._places |= start
        elif isinstance(start, int) and self._marks:
            self._places[stream or self._marks[0]] = start


def marks(spec: Spec) -> tuple[str, ...]:
    """What an `id` is made of: the offsets of these streams, a `version`, or nothing if there is no going on."""
    if _SINCE not in spec.params.__struct_fields__ or not spec.stream:
        return ()
    if spec.output:
        return tuple(name for name in spec.output if name not in ("", "screen"))
    versions = any("version" in getattr(event, "__struct_fields__", ()) for event in spec.events.values())
    return ("version",) if versions else ()


def since(spec: Spec, last: str) -> Any:
    """The parameter `since` of a `Last-Event-ID`. Raises `invalid_params`."""
    names = marks(spec)
    if names == ("version",):
        return last
    parts = last.split("-")
    if not names or len(parts) != len(names) or not all(_OFFSET.fullmatch(part) for part in parts):
        raise HawseError("invalid_params", "a `Last-Event-ID` that none of these events has", details={"path": None})
    offsets = [int(part) for part in parts]
    return offsets[0] if len(names) == 1 else dict(zip(names, offsets, strict=True))


def message(name: str, data: bytes, place: str | None = None) -> bytes:
    """One event. JSON that we have encoded has no line ends, so it is one line of `data`."""
    mark = f"id: {place}\n".encode() if place is not None and place.isprintable() else b""
    shown = "".join(char for char in name if char.isprintable())
    return mark + f"event: {shown}\n".encode() + b"data: " + data + b"\n\n"


def _half(data: bytes) -> int:
    """How many bytes at the end are the beginning of a character that may yet come whole."""
    for size in range(1, min(len(data), 3) + 1):
        if data[-size] >= 0xC0:  # a character begins here
            try:
                return 0 if codecs.utf_8_decode(data[-size:], "strict", False)[0] else size
            except UnicodeDecodeError:
                return 0
        if data[-size] < 0x80:
            return 0
    return 0
