"""Converts the content of Jupyter messages to a run's events and bytes. Does no I/O.

Large values in MIME bundles are moved out of the events. This keeps events small and avoids base64.
"""

import base64
import binascii
import json
import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Raw

INLINE = 64 << 10  # maximum size of a value as JSON, in bytes; larger values are moved out of the event
EVENT_LIMIT = 256 << 10  # maximum total size of the values in an event, in bytes; a control message has at most 1 MiB
VALUE_LIMIT = 64 << 20  # maximum size of a value in bytes, because clients hold it in memory; larger values are omitted
TEXT_LIMIT = 64 << 10  # maximum length of an error message, a prompt or a traceback line, in characters
TRACEBACK_LINES = 1000  # number of lines kept from the end of a traceback; a deep recursion has many more
TYPES = 64  # maximum number of MIME types per bundle
_BINARY = re.compile(r"image/(?!svg)|audio/|video/|application/(?:pdf|octet-stream|zip)\b")
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")

_SURROGATE = re.compile("[\ud800-\udfff]")

Form = Literal["base64", "text", "json"]


class LargeValue(NamedTuple):
    """A value sent as bytes."""

    type: str
    form: Form
    data: bytes


class Bundle(NamedTuple):
    """A MIME bundle: an event, along with the values moved out of it."""

    event: dict[str, Any]
    large: list[LargeValue]


class _BundleContent(msgspec.Struct):
    """The content of `execute_result`, `display_data` and `update_display_data` messages."""

    data: dict[str, Raw] = {}
    metadata: dict[str, Raw] = {}
    transient: dict[str, Any] = {}
    execution_count: int | None = None


_bundle = msgspec.json.Decoder(_BundleContent)
_any = msgspec.json.Decoder()


def decode(content: bytes, errors: Literal["replace", "surrogateescape"] = "replace") -> Any:
    """Decode JSON.

    Args:
        content: JSON without lone surrogates (see `without_lone_surrogates`).
        errors: How to decode bytes that aren't valid UTF-8: to U+FFFD, or to surrogates as `os.fsdecode` does.
    """
    try:
        return _any.decode(content)
    except ValueError:
        return json.loads(content.decode("utf-8", errors))


def stream_bytes(text: str) -> bytes:
    """Return a `stream` message's bytes. Surrogates become the bytes they stand for."""
    return text.encode("utf-8", "surrogateescape")


def bundle(content: bytes) -> Bundle:
    """Split the content of a message that contains a MIME bundle.

    Raises:
        ValueError: The content is not a MIME bundle.
    """
    try:
        parsed = _bundle.decode(content.decode("utf-8", "replace"))
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None
    data: dict[str, Raw] = {}
    large: list[LargeValue] = []
    omitted: list[str] = []
    room = EVENT_LIMIT
    for kind, value in sorted(parsed.data.items(), key=lambda item: len(item[1])):
        size = len(value)
        if len(data) + len(large) + len(omitted) >= TYPES or size > 2 * VALUE_LIMIT:
            omitted.append(kind[:256])
        elif size <= INLINE and size <= room:
            room -= size
            data[kind] = value
        elif len((found := _large(kind, bytes(value))).data) <= VALUE_LIMIT:
            large.append(found)
        else:
            omitted.append(kind[:256])
    event: dict[str, Any] = {"data": data}
    if omitted:
        event["omitted"] = omitted[:TYPES]
    if parsed.metadata and sum(map(len, parsed.metadata.values())) <= INLINE:
        event["metadata"] = parsed.metadata
    if isinstance(name := parsed.transient.get("display_id"), str):
        event["display_id"] = name[:256]
    if parsed.execution_count is not None:
        event["execution_count"] = parsed.execution_count
    return Bundle(event, large)


def _large(kind: str, value: bytes) -> LargeValue:
    if value[:1] != b'"':
        return LargeValue(kind, "json", value)
    text: str = _any.decode(value)
    if _BINARY.match(kind):
        try:
            return LargeValue(kind, "base64", base64.b64decode("".join(text.split()), validate=True))
        except (binascii.Error, ValueError):
            pass  # the value isn't base64, even though its type is binary; send it unchanged
    return LargeValue(kind, "text", text.encode("utf-8", "replace"))


def error(content: dict[str, Any]) -> tuple[str, str, list[str]]:
    """Return the error name, error message and traceback lines from an `error` or `execute_reply` message."""
    lines = content.get("traceback")
    traceback = [_plain(line) for line in lines[-TRACEBACK_LINES:]] if isinstance(lines, Sequence) else []
    while len(traceback) > 1 and sum(map(len, traceback)) > EVENT_LIMIT // 2:
        del traceback[0]
    return _plain(content.get("ename")), _plain(content.get("evalue")), traceback


def inspected(content: dict[str, Any]) -> dict[str, Any]:
    """Return an `inspect_reply` message's content without terminal colours."""
    data = content.get("data")
    if not isinstance(data, dict):
        return content
    found = {kind: _ANSI.sub("", value) if isinstance(value, str) else value for kind, value in data.items()}
    return content | {"data": found}


def plain(text: str) -> str:
    """Return text with surrogates replaced by U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)


def prompt(content: dict[str, Any]) -> dict[str, Any]:
    """Return the event for an `input_request` message."""
    return {"prompt": _plain(content.get("prompt")), "password": content.get("password") is True}


def _plain(text: Any) -> str:
    """Return text without terminal colours, truncated to TEXT_LIMIT."""
    return plain(_ANSI.sub("", text if isinstance(text, str) else "")[:TEXT_LIMIT])
