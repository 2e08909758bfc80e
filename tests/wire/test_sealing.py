"""Sealed answers: vectors of RFC 7748, and what damaged or foreign bytes give."""

import pytest
from hypothesis import given, settings, strategies as st

from hawse.wire.sealing import KEY_SIZE, TAG_SIZE, TEXT_MAX, KeyPair, SealError, seal, unseal, x25519

# RFC 7748, sections 5.2 and 6.1: scalar, point, product.
PRODUCTS = [
    (
        "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
        "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
        "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552",
    ),
    (
        "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
        "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
        "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957",
    ),
]
PAIR = KeyPair.generate()


@pytest.mark.parametrize(("scalar", "point", "product"), PRODUCTS)
def test_products_are_those_of_the_rfc(scalar: str, point: str, product: str) -> None:
    assert x25519(bytes.fromhex(scalar), bytes.fromhex(point)).hex() == product


@settings(max_examples=20, deadline=None)
@given(st.binary(max_size=TEXT_MAX))
def test_only_the_owner_of_the_key_opens_an_answer(text: bytes) -> None:
    sealed = seal(text, PAIR.public, "q-1")
    assert unseal(sealed, PAIR, "q-1") == text
    assert len(sealed) == KEY_SIZE + TAG_SIZE + len(text)
    with pytest.raises(SealError, match="not sealed for this question"):
        unseal(sealed, KeyPair.generate(), "q-1")


def test_the_owner_of_the_key_opens_an_answer() -> None:
    assert unseal(seal(b"hunter2", PAIR.public, "q-1"), PAIR, "q-1") == b"hunter2"


def test_an_answer_to_another_question_is_refused() -> None:
    with pytest.raises(SealError, match="not sealed for this question"):
        unseal(seal(b"text", PAIR.public, "q-1"), PAIR, "q-2")


@pytest.mark.parametrize("index", [0, KEY_SIZE, KEY_SIZE + TAG_SIZE])
def test_damaged_bytes_are_refused(index: int) -> None:
    sealed = bytearray(seal(b"text", PAIR.public, "q"))
    sealed[index] ^= 1
    with pytest.raises(SealError):
        unseal(bytes(sealed), PAIR, "q")


def test_a_short_answer_is_refused() -> None:
    with pytest.raises(SealError, match="too short"):
        unseal(bytes(KEY_SIZE + TAG_SIZE - 1), PAIR, "q")


def test_a_long_answer_is_refused() -> None:
    with pytest.raises(SealError, match="the maximum is 4095"):
        seal(bytes(TEXT_MAX + 1), PAIR.public, "q")
    with pytest.raises(SealError, match="too long"):
        unseal(bytes(KEY_SIZE + TAG_SIZE + TEXT_MAX + 1), PAIR, "q")


@pytest.mark.parametrize("public", [bytes(KEY_SIZE), b"", bytes(KEY_SIZE - 1)])
def test_an_invalid_public_key_is_refused(public: bytes) -> None:
    with pytest.raises(SealError, match="public key is invalid"):
        seal(b"text", public, "q")
