"""Operating system commands in output, wherever it is cut."""

from hypothesis import given, strategies as st

from hawse_runtime.terminal.osc_scanner import LIMIT, Osc, OscScanner

PIECES = st.sampled_from(
    [b"\x1b", b"]", b"\\", b"\x07", b"0;t", b"133;A", b"\x18", b"text", b"\x1b]", b"\x1b\\", b"\x1b[m"]
)


def scan(*pieces: bytes) -> list[Osc]:
    scanner = OscScanner()
    return [osc for piece in pieces for osc in scanner.feed(piece)]


def test_a_command_ends_with_bel_or_st_and_has_its_offsets() -> None:
    assert scan(b"ab\x1b]0;t\x07cd\x1b]7;x\x1b\\") == [Osc(2, 8, b"0;t"), Osc(10, 17, b"7;x")]


def test_another_escape_or_can_cancels_it() -> None:
    assert scan(b"\x1b]0;a\x1b[m\x07\x1b]0;b\x18\x07\x1b]0;c\x1b]0;d\x07") == [Osc(21, 27, b"0;d")]


@given(st.lists(PIECES, max_size=30), st.data())
def test_however_the_output_is_cut_the_same_is_found(pieces: list[bytes], data: st.DataObject) -> None:
    whole = b"".join(pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=10)))
    parts = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert scan(*parts) == scan(whole)


def test_one_that_is_too_long_is_passed_over_and_never_kept() -> None:
    scanner = OscScanner()
    assert scanner.feed(b"\x1b]52;c;") == []
    for _ in range(100):
        assert scanner.feed(b"x" * LIMIT) == []
        assert scanner.held <= LIMIT + 3
    assert scanner.feed(b"\x07\x1b]0;t\x07") == [Osc(7 + 100 * LIMIT + 1, 7 + 100 * LIMIT + 7, b"0;t")]


def test_one_that_is_too_long_in_one_piece_hides_nothing_behind_it() -> None:
    (found,) = scan(b"\x1b]52;" + b"x" * 2 * LIMIT + b"\x1b\\\x1b]0;t\x07")
    assert found.payload == b"0;t"
