import pytest
from hypothesis import given, strategies as st

from hawse.mcp.excerpt import Excerpt, excerpt


def test_a_short_output_is_kept_whole() -> None:
    assert excerpt("all of it", 100) == "all of it"
    kept = Excerpt(8)
    for part in (b"1234", b"5678"):
        kept.add(part)
    assert (kept.text(), kept.missing) == ("12345678", 0)


def test_the_beginning_and_the_end_of_a_long_output_are_kept() -> None:
    kept = Excerpt(8)
    for n in range(1000):
        kept.add(b"%04d" % n)
    assert kept.text("read it") == "0000\n[3,992 bytes are omitted here: read it]\n0999"
    assert (kept.start, kept.missing, kept.size) == (4, 3992, 4000)


@pytest.mark.hypothesis
@given(st.lists(st.binary(max_size=20)), st.integers(2, 30))
def test_what_is_kept_is_the_first_and_the_last_bytes(parts: list[bytes], limit: int) -> None:
    kept = Excerpt(limit)
    for part in parts:
        kept.add(part)
    whole = b"".join(parts)
    half = limit // 2
    assert kept.missing == max(0, len(whole) - 2 * half)
    kept.text()


@pytest.mark.parametrize("limit", range(10, 22))
def test_no_character_is_cut(limit: int) -> None:
    assert "\ufffd" not in excerpt("é€🚀" * 20, limit)
