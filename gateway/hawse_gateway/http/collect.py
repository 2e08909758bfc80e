"""Collects a channel's result, bytes and events in a single JSON response of limited size."""

import base64
from typing import Any, Final

import msgspec

from hawse.api import Spec
from hawse.api.sandboxes import STARTING
from hawse.wire import Event, Kind
from hawse_gateway.upstream.call import UpstreamCall, UpstreamItem

OUTPUT_LIMIT: Final = 1 << 20  # maximum bytes per stream in a response; the rest is discarded
EVENTS_LIMIT: Final = 1 << 20  # maximum bytes of events in a response


class CollectedStream:
    """The output collected from one channel."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._output = {name: bytearray() for name in spec.output if name}
        self._events: list[dict[str, Any]] = []
        self._room = EVENTS_LIMIT
        self._truncated = False

    def add(self, item: UpstreamItem | Event) -> None:
        if isinstance(item, Event):
            self._add_event(item)
            return
        kept = self._output[self._spec.output[item.kind - Kind.OUTPUT]]
        room = OUTPUT_LIMIT - len(kept)
        kept += item.payload[:room]
        self._truncated |= len(item.payload) > room

    def _add_event(self, event: Event) -> None:
        if event.name in ("opened", STARTING):
            return  # left out, because these events don't describe the stream's content
        self._room -= len(event.value)
        if self._room >= 0:
            self._events.append({"event": event.name, "data": msgspec.Raw(event.value)})
        self._truncated |= self._room < 0 or event.name == "truncated"

    def answer(self, result: Any) -> dict[str, Any]:
        """Return `result` with each stream's content added under the stream's name. `encoding` is `utf-8` or
        `base64`."""
        answer: dict[str, Any] = dict(result or {})
        if self._events:
            answer["events"] = self._events
        if self._output:
            answer |= _encoded(self._output)
        if self._output or self._events:
            answer["truncated"] = self._truncated
        return answer


async def collect(request: UpstreamCall, spec: Spec) -> dict[str, Any]:
    """Read the call's output until the call ends, and return the response. Raises `HawseError`."""
    collected = CollectedStream(spec)
    while (item := await request.next()) is not None:
        collected.add(item)
    return collected.answer(await request.result())


def _encoded(output: dict[str, bytearray]) -> dict[str, str]:
    try:
        return {name: data.decode() for name, data in output.items()} | {"encoding": "utf-8"}
    except UnicodeDecodeError:
        return {name: base64.b64encode(data).decode() for name, data in output.items()} | {"encoding": "base64"}
