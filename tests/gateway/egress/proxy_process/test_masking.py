"""Secrets in answers."""

import itertools
import re

from hypothesis import given, strategies as st

from hawse_gateway.egress.proxy_process.masking import Mask

SECRET = b"s3cret-value"


def masked(parts: list[bytes], *hidden: bytes) -> bytes:
    mask = Mask(hidden)
    return b"".join(mask.feed(part) for part in parts) + mask.end()


@given(
    st.lists(st.one_of(st.just(SECRET), st.binary(max_size=6), st.sampled_from([SECRET[:5], SECRET[5:]])), max_size=8),
    st.lists(st.integers(0, 60), max_size=8),
)
def test_a_secret_is_hidden_wherever_an_answer_is_split(pieces: list[bytes], cuts: list[int]) -> None:
    data = b"".join(pieces)
    edges = sorted({0, len(data), *(min(cut, len(data)) for cut in cuts)})
    parts = [data[start:end] for start, end in itertools.pairwise(edges)]
    expected = re.sub(re.escape(SECRET), b"*" * len(SECRET), data, flags=re.IGNORECASE)
    assert masked(parts, SECRET) == expected


def test_a_secret_is_hidden_in_upper_and_lower_case() -> None:
    assert masked([b"a S3CRET-", b"Value b"], SECRET) == b"a ************ b"


def test_a_guess_of_a_secrets_start_is_not_confirmed() -> None:
    assert masked([b"a s3cret-valu"], SECRET) == b"a s3cret-valu"


def test_the_longer_of_two_secrets_is_hidden_first() -> None:
    assert masked([b"x Bearer ab", b"cd y"], b"abcd", b"Bearer abcd") == b"x *********** y"


def test_data_that_cannot_start_a_secret_is_passed_on_at_once() -> None:
    mask = Mask([SECRET])
    assert mask.feed(b"data: 1\n") == b"data: 1\n"
    assert mask.feed(b"data: s3") == b"data: "
    assert mask.feed(b"x") == b"s3x"


def test_a_very_short_text_is_not_hidden() -> None:
    assert masked([b"abc"], b"abc") == b"abc"
