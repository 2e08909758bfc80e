"""MIME bundles: what stays in an event, and what travels as bytes."""

import base64
import json
from typing import Any

import msgspec
import pytest

from hawse_runtime.code.host import bundles


def content(**data: Any) -> bytes:
    return json.dumps({"data": data, "metadata": {}, "transient": {}}).encode()


def encoded(bundle: bundles.Bundle) -> Any:
    return json.loads(msgspec.json.encode(bundle.event))


def test_small_values_stay_as_they_are() -> None:
    raw = json.dumps(
        {
            "data": {"text/plain": "x", "application/json": {"a": [1, None]}},
            "metadata": {"image/png": {"width": 3}},
            "transient": {"display_id": "d"},
            "execution_count": 4,
        }
    ).encode()
    bundle = bundles.bundle(raw)
    assert bundle.large == []
    assert encoded(bundle) == {
        "data": {"text/plain": "x", "application/json": {"a": [1, None]}},
        "metadata": {"image/png": {"width": 3}},
        "display_id": "d",
        "execution_count": 4,
    }


def test_a_large_value_travels_as_bytes_of_its_form() -> None:
    image = bytes(range(256)) * 400
    text = "é" * bundles.INLINE
    values = {"image/png": base64.encodebytes(image).decode(), "text/html": text, "application/json": [0] * 70_000}
    bundle = bundles.bundle(json.dumps({"data": values | {"text/plain": "x"}}).encode())
    assert encoded(bundle) == {"data": {"text/plain": "x"}}
    found = {value.type: value for value in bundle.large}
    assert (found["image/png"].form, found["image/png"].data) == ("base64", image)
    assert (found["text/html"].form, found["text/html"].data.decode()) == ("text", text)
    assert (found["application/json"].form, json.loads(found["application/json"].data)) == ("json", [0] * 70_000)


def test_a_binary_value_that_is_not_base64_travels_as_text() -> None:
    (value,) = bundles.bundle(content(**{"image/png": "~" * 70_000})).large
    assert (value.form, value.data) == ("text", b"~" * 70_000)


def test_an_event_stays_small_however_many_values_there_are() -> None:
    bundle = bundles.bundle(content(**{f"text/{n}": "x" * 60_000 for n in range(10)}))
    assert sum(len(str(value)) for value in encoded(bundle)["data"].values()) <= bundles.EVENT_LIMIT
    assert len(bundle.large) + len(bundle.event["data"]) == 10


def test_too_many_or_too_large_values_are_omitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundles, "VALUE_LIMIT", 100_000)
    bundle = bundles.bundle(content(**{"text/plain": "x" * 150_000, "text/html": "y" * 80_000}))
    assert (bundle.event["omitted"], [value.type for value in bundle.large]) == (["text/plain"], ["text/html"])
    many = bundles.bundle(content(**{f"text/{n}": "x" for n in range(200)}))
    assert len(many.event["data"]) == bundles.TYPES


@pytest.mark.parametrize("raw", [b"[]", b'{"data": 3}', b'{"data": {"text/plain"', b""])
def test_content_that_is_not_a_bundle_is_refused(raw: bytes) -> None:
    with pytest.raises(ValueError):
        bundles.bundle(raw)


def test_bytes_that_are_not_utf_8_become_replacement_characters() -> None:
    assert encoded(bundles.bundle(b'{"data": {"text/plain": "a\xff"}}'))["data"] == {"text/plain": "a\ufffd"}
    large = bundles.bundle(b'{"data": {"text/plain": "%b\xff"}}' % (b"x" * 70_000)).large[0]
    assert large.data.decode()[-1] == "\ufffd"


def test_printed_bytes_survive_as_they_were() -> None:
    text = bundles.decode(b'{"text": "a\xff"}', "surrogateescape")["text"]
    assert bundles.stream_bytes(text) == b"a\xff"
    assert bundles.decode(b'{"text": "a\xff"}') == {"text": "a\ufffd"}
    assert bundles.stream_bytes("é") == "é".encode()


def test_an_error_is_plain_text_of_bounded_length() -> None:
    name, value, traceback = bundles.error(
        {"ename": "E", "evalue": "\x1b[31mred\x1b[0m", "traceback": ["a\x1b]8;;u\x07b"]}
    )
    assert (name, value, traceback) == ("E", "red", ["ab"])
    _, value, traceback = bundles.error({"evalue": "v" * 10**6, "traceback": ["x" * 1000] * 5000})
    assert len(value) == bundles.TEXT_LIMIT
    assert sum(map(len, traceback)) <= bundles.EVENT_LIMIT // 2
    assert bundles.error({"ename": 3, "traceback": None}) == ("", "", [])


def test_a_prompt_and_a_documentation_are_plain_text() -> None:
    assert bundles.prompt({"prompt": "\x1b[1m? ", "password": 1}) == {"prompt": "? ", "password": False}
    assert bundles.inspected({"data": {"text/plain": "\x1b[31mx\x1b[39m"}, "found": True}) == {
        "data": {"text/plain": "x"},
        "found": True,
    }
    assert bundles.inspected({"status": "error"}) == {"status": "error"}
