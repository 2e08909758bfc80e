"""Questions that programs announce with a control sequence."""

import base64

import pytest

from hawse.api.people import CHOICES_LIMIT
from hawse_runtime.terminal.announcement import Announcement, parse_announcement


def encoded(text: str) -> bytes:
    return base64.b64encode(text.encode())


def test_an_announcement_has_a_kind_a_reason_choices_and_a_limit() -> None:
    value = b";".join((b"ask", b"choice", b"60", encoded("Größe?"), encoded("S"), encoded("L")))
    assert parse_announcement(value, 7) == Announcement(7, "choice", "Größe?", ["S", "L"], 60.0)
    assert parse_announcement(b"ask;secret;;", 7) == Announcement(7, "secret", None, [], None)


def test_control_characters_are_removed_and_long_reasons_cut() -> None:
    found = parse_announcement(b"ask;line;;" + encoded("\x1b[31m" + "a" * 5000), 0)
    assert found is not None
    assert found.reason == ("[31m" + "a" * 5000)[:1024]


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"ask",
        b"ask;line",
        b"ask;line;",
        b"tell;line;;",
        b"ask;takeover;;",
        b"ask;choice;;",
        b"ask;line;;;" + encoded("a"),
        b"ask;line;soon;",
        b"ask;line;nan;",
        b"ask;line;-1;",
        b"ask;line;inf;",
        b"ask;line;;!",
        b"ask;line;;\xff",
        b"ask;choice;;;",
        b"ask;choice;;" + b";YQ==" * (CHOICES_LIMIT + 2),
    ],
)
def test_anything_else_is_no_announcement(value: bytes) -> None:
    assert parse_announcement(value, 0) is None
