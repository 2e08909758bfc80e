"""The rows of a snapshot: lines, links and the number of rows of the scrollback."""

from pyghostty import Terminal

from hawse_runtime.screen.emulator.screen import Screen
from tests.support.screens import all_rows

COLS, ROWS = 16, 5


def snapshot_of(data: bytes, scrollback: int = 1000) -> bytes:
    screen = Screen(COLS, ROWS)
    try:
        screen.feed(data)
        return screen.snapshot(scrollback)
    finally:
        screen.close()


def test_a_soft_wrapped_line_remains_one_line() -> None:
    screen = Screen(COLS, ROWS)
    screen.feed(b"a longer line that wraps around\r\nx\r\ny")
    with Terminal(COLS, ROWS) as resumed:
        resumed.feed(screen.snapshot())
        resumed.resize(40, ROWS)
        assert resumed.text().startswith("a longer line that wraps around\nx\ny")
    screen.close()


def test_the_number_of_scrollback_rows_can_be_limited() -> None:
    text = b"".join(b"row %d\r\n" % n for n in range(100))
    for before in (b"", b"\x1b[?1049h"):
        snapshot = snapshot_of(text + before, 10)
        assert b"row 86\r\n" in snapshot
        assert b"row 85\r\n" not in snapshot
        assert b"row 1\r\n" in snapshot_of(text + before)


def test_links_in_the_scrollback_are_painted() -> None:
    link = b"\x1b]8;;https://example.com/\x1b\\link\x1b]8;;\x1b\\"
    snapshot = snapshot_of(b"before\r\n" + link + b"\r\n" + b"after\r\n" * 20)
    assert snapshot.count(link) == 1
    with Terminal(COLS, ROWS) as resumed, Terminal(COLS, ROWS) as straight:
        resumed.feed(snapshot)
        straight.feed(b"before\r\nlink\r\n" + b"after\r\n" * 20)
        assert all_rows(resumed) == all_rows(straight)


def test_an_erased_wide_character_at_the_margin_does_not_join_lines() -> None:
    screen = Screen(10, 3)
    screen.feed("xxxxxxxxx漢\r\x1b[Kone\r\ntwo\r\nthree\r\nfour\r\nfive".encode())
    painted = Screen(10, 3)
    painted.feed(screen.snapshot())
    assert all_rows(painted.emulator) == all_rows(screen.emulator) == "xxxxxxxxx\none\ntwo\nthree\nfour\nfive"
    for each in (screen, painted):
        each.close()


def test_a_line_that_was_broken_again_does_not_fill_its_last_row_with_its_background() -> None:
    screen = Screen(12, 3)
    screen.feed(b"\x1b[41m" + b"x" * 12 + b"\x1b[m\r\n")
    screen.resize(8, 3)
    screen.feed(b"a\r\nb\r\nc\r\nd\r\n")
    painted = Screen(8, 3)
    painted.feed(screen.snapshot())
    painted.resize(8, 8)
    assert b"\x1b[0;41m\x1b[" not in painted.snapshot()  # no blanks are erased with it
    for each in (screen, painted):
        each.close()
