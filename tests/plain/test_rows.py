import pytest

from hawse.plain.lines import LINE_MAX, Line
from hawse.plain.rows import ROWS, Rows


def text_of(output: str) -> str:
    """Return the text of the lines that the rows make of an output."""
    rows = Rows()
    done, _ = rows.feed(output)
    return "".join(line.text + "\n" * line.ended for line in done + rows.rest())


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("plain\n\ttext \n", "plain\n\ttext \n"),
        ("one\r\ntwo\r\r\n", "one\ntwo\n"),
        ("\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x1b\\link\x1b]8;;\x07\n", "red link\n"),
        ("\x1b]133;C\x07out\x1b(B\x1b=\x1bP1$r0m\x1b\\!", "out!"),
        ("a\x00\x05\x85b", "ab"),
        ("\x1b]0;a title without an end\nnext\n", "\nnext\n"),
        (f"\x1b[{'1' * 300}m\n", f"{'1' * 44}m\n"),
    ],
)
def test_control_sequences_are_dropped_and_text_is_kept(output: str, text: str) -> None:
    assert text_of(output) == text


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("10%\r55%\r100%\n", "100%\n"),
        ("Receiving: 100%\rdone\x1b[K\n", "done\n"),
        ("long line\rshort\n", "shortline\n"),
        ("work |\b/\b-\b \bdone\n", "work done\n"),
        ("| \r/ \r- \r\\ \r", ""),
        ("⠋ install\r⠙ install\r\x1b[2K\x1b[1Gadded 3 packages\n", "added 3 packages\n"),
        ("漢字 5%\r漢字漢\n", "漢字漢%\n"),
        ("漢字\ra\n", "a 字\n"),
        ("abc\r\x1b[1P\x1b[C\x1b[X|\n", "b|\n"),
        ("e\u0301te\u0301\r\x1b[3C!\n", "e\u0301te\u0301!\n"),
        ("a\x1b[3Cb\x1b[4G-\n", "a  -b\n"),
    ],
)
def test_a_redrawn_line_keeps_its_last_state(output: str, text: str) -> None:
    assert text_of(output) == text


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("a: waiting\nb: waiting\n\x1b[2Aa: 50%\x1b[K\n\x1b[Bc\n\x1b[3Aa: done\x1b[K\n", "a: done\nb: waiting\nc\n"),
        ("one\ntwo\n\x1b[2A\x1b[Jthree\n", "three\n"),
        ("one\ntwo\n\x1b[F\x1b[2K2\n", "one\n2\n"),
        ("a\nb\x1bMA\x1bDB\n", "aA\nb B\n"),
        ("x\n\x1b7\x1b[24;0fProgress: [ 5%]\x1b8y\n\x1b7\x1b[24;0fProgress: [99%]\x1b8", "x\ny\n"),
        ("x\x1b7\x1b[24;0fstays\nz", "xstays\nz"),
        ("$ watch\n\x1b[H\x1b[2Jframe 1\x1b[3;1Hx\x1b[H\x1b[2Jframe 2", "$ watch\nframe 2"),
        ("before\n\x1b[?1049h\x1b[5;5Hmenu\x1b[?1049lafter\n", "before\nafter\n"),
        ("before\n\x1b[?1049h\x1b[2;5Hmenu", "before\n    menu"),
        ("a\x1bcb\x1bcc\n", "a\nc\n"),
    ],
)
def test_redrawn_rows_keep_their_last_state(output: str, text: str) -> None:
    assert text_of(output) == text


def test_rows_that_scrolled_away_are_complete() -> None:
    rows = Rows()
    done, _ = rows.feed("".join(f"{n}\n" for n in range(ROWS + 5)))
    assert [line.text for line in done] == [str(n) for n in range(6)]
    done, _ = rows.feed(f"\x1b[{2 * ROWS}Afirst\x1b[K")
    assert (done, rows.rest()[0].text) == ([], "first")


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("error: disk\r\x1b[Kdone\n", "error: disk\ndone\n"),
        ("1 failed, 3 passed\r2 failed, 3 passed\r3 failed, 9 passed\n", "3 failed, 9 passed\n"),
        ("warning: old\x1b[2K\x1b[1Gnew\n", "warning: old\nnew\n"),
        ("step\n warning: a\n\x1b[2A\x1b[Jstep done\n", "warning: a\nstep done\n"),
        ("$\n\x1b[?1049hfatal: gone\x1b[?1049l\nnext\n", "$\nfatal: gone\n\nnext\n"),
        ("\x1b[H\x1b[2Jerror 1\x1b[H\x1b[2Jok", "error 1\nok"),
    ],
)
def test_overwritten_errors_are_kept_once(output: str, text: str) -> None:
    assert text_of(output) == text


def test_an_error_that_moves_in_a_redrawn_display_is_kept_once() -> None:
    logs = ["compile a", "warning: unused x", "compile b", "compile c", "compile d"]
    frames = [f"\x1b[3A\x1b[J{logs[n]}\n{logs[n + 1]}\n{logs[n + 2]}\n" for n in range(3)]
    assert text_of("\n\n\n" + "".join(frames) + "\x1b[3A\x1b[Jdone\n") == "warning: unused x\ndone\n"


def test_a_line_knows_its_offsets() -> None:
    rows = Rows(offset=100)
    rows.feed("é\r\n\x1b[31mred\x1b[0m\nx" + "y" * LINE_MAX)
    last = 100 + 4 + 13
    assert rows.rest()[:1] == [Line("y", last + LINE_MAX, last + LINE_MAX + 1, ended=False)]


def test_a_long_line_is_split_at_its_offset() -> None:
    rows = Rows(offset=100)
    done, _ = rows.feed("é\r\n\x1b[31mred\x1b[0m\nx" + "y" * LINE_MAX)
    first = Line("x" + "y" * (LINE_MAX - 1), 117, 117 + LINE_MAX, ended=False)
    assert done == [Line("é", 100, 104), Line("red", 104, 117), first]


def test_the_latest_line_is_the_one_with_the_cursor_unless_it_is_blank() -> None:
    rows = Rows()
    rows.feed("one\n 50%\rtwo 60%\n\n")
    assert rows.latest == "two 60%"
    rows.feed("\x1b[3A")
    assert rows.latest == "one"
