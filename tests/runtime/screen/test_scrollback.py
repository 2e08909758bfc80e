"""The rows of a snapshot: lines, links and the number of rows of the scrollback."""

from pyghostty import Terminal

from runtime.screen.screen import Screen
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
