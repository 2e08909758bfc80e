from hawse.plain.lines import Line
from hawse.plain.repeats import Repeats


def texts_of(*lines: str) -> list[str]:
    repeats, found, at = Repeats(), list[Line](), 0
    for line in lines:
        found += repeats.push(Line(line, at, at := at + len(line) + 1))
    return [line.text for line in found + repeats.rest()]


def test_many_identical_lines_are_counted() -> None:
    assert texts_of("a", *["b"] * 42, "a") == ["a", "b", "[… 41 more identical lines]", "a"]


def test_few_identical_lines_are_printed() -> None:
    assert texts_of("a", "b", "b", "b", "a") == ["a", "b", "b", "b", "a"]


def test_the_frames_of_a_spinner_are_identical() -> None:
    assert texts_of(*[f"{frame} install" for frame in "⠋⠙⠹⠸"]) == ["⠋ install", "[… 3 more identical lines]"]


def test_the_last_line_of_a_progress_report_is_printed() -> None:
    report = [f"{n * 50:6}K {'.' * 10} {'.' * 10} {n * 10:3}% {n}.3M {9 - n}m2s" for n in range(10)]
    assert texts_of("start", *report, "end") == ["start", "[… 9 earlier lines of this progress]", report[-1], "end"]


def test_lines_with_other_words_or_smaller_percentages_are_no_progress_report() -> None:
    table = [f"disk{name} 10 GB {share}%" for name, share in zip("abcde", (5, 6, 7, 8, 9), strict=True)]
    shares = [f"{share}%" for share in (5, 4, 3, 2, 1)]
    assert texts_of(*table) == table
    assert texts_of(*shares) == shares


def test_parts_of_a_long_line_are_not_counted() -> None:
    repeats = Repeats()
    part = Line("x", 0, 1, ended=False)
    assert [repeats.push(part) for _ in range(9)] == [[part]] * 9
    assert repeats.rest() == []


def test_a_note_knows_the_offsets_of_its_lines() -> None:
    repeats = Repeats()
    for n in range(9):
        repeats.push(Line("same", 5 * n, 5 * n + 5))
    assert repeats.copy().rest() == [Line("same", 0, 5), Line("[… 8 more identical lines]", 5, 45)]


def test_the_steps_of_an_installation_are_counted() -> None:
    steps = [f"{verb} lib{name} (2.{name}) ..." for name in "abcdef" for verb in ("Unpacking", "Setting up")]
    assert texts_of("start", *steps, "end") == ["start", *steps[:2], "[… 9 more steps]", steps[-1], "end"]
    assert texts_of(*steps[:8]) == steps[:8]


def test_a_step_that_fails_is_printed() -> None:
    steps = [f"Installing lib{name}" for name in "abcdefghijklmnopqrst"]
    failing = "Installing libz: failed"
    assert failing in texts_of(*steps, failing, *steps)
