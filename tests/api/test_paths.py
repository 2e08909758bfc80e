"""Encoding of paths: every path is decoded unchanged, and valid UTF-8 is encoded as itself."""

import json
import os

import pytest
from hypothesis import given, strategies as st

from hawse.api.paths import from_text, to_text


@given(st.binary())
def test_every_path_survives_json(raw: bytes) -> None:
    path = os.fsdecode(raw.replace(b"\0", b""))
    text = to_text(path)
    assert from_text(json.loads(json.dumps(text, ensure_ascii=False).encode())) == path


@given(st.text().filter(lambda text: "\0" not in text))
def test_valid_utf_8_is_encoded_as_itself(text: str) -> None:
    assert to_text(text) == from_text(text) == text


def test_a_byte_that_is_not_utf_8_is_encoded_as_nul_and_two_hex_digits() -> None:
    assert to_text(os.fsdecode(b"caf\xe9/\xff")) == "caf\0e9/\0ff"


@pytest.mark.parametrize("text", ["a\0b", "a\0", "\0002f", "\0E9", "\0e", "\0002e\0002e"])
def test_a_nul_that_does_not_escape_a_byte_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="NUL"):
        from_text(text)
