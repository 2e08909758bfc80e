"""What may be skipped of plain text, and what may not."""

from hypothesis import given, strategies as st

from runtime.screen.plain_text import is_plain, skippable


def test_plain_text_has_no_control_function_but_line_ends_tabs_and_bells() -> None:
    assert is_plain(b"a line, a tab\t and a bell\a\r\n ~")
    for byte in (*range(7), 8, 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F, *range(0x80, 0x100)):
        assert not is_plain(b"ab" + bytes([byte]) + b"cd")


@given(st.lists(st.sampled_from([b"", b"y", b"a line", b"lone\nfeed", b"x" * 300]), max_size=400), st.integers(1, 50))
def test_what_is_left_has_more_lines_than_the_screen_keeps_and_begins_with_crlf(parts: list[bytes], lines: int) -> None:
    data = b"\r\n".join(parts)
    at = skippable(data, lines)
    assert at == 0 or (data[at:].startswith(b"\r\n") and data.count(b"\n", at) > lines)
    if data.count(b"\r\n") == data.count(b"\n") > 10 * lines and not any(len(part) > 50 for part in parts):
        assert len(data) < 2000 or at > 0


def test_most_of_many_short_lines_goes() -> None:
    data = b"y\r\n" * 100_000
    assert skippable(data, 1000) > len(data) - 10_000
