"""The ranges of the output in which the screen answers queries."""

from hawse_runtime.screen.answer_ranges import LIMIT, AnswerRanges


def test_at_first_the_screen_answers() -> None:
    ranges = AnswerRanges()
    assert ranges.by_screen(0)
    assert ranges.boundary(0, 100) == 100


def test_each_range_has_one_that_answers() -> None:
    ranges = AnswerRanges()
    ranges.hand_over(10, to_viewer=True)
    ranges.hand_over(10, to_viewer=True)
    ranges.hand_over(30, to_viewer=False)
    assert [ranges.by_screen(at) for at in (0, 9, 10, 29, 30)] == [True, True, False, False, True]
    assert [ranges.boundary(at, 100) for at in (0, 10, 30)] == [10, 30, 100]


def test_a_viewer_that_leaves_before_it_was_sent_anything_has_answered_nothing() -> None:
    ranges = AnswerRanges()
    ranges.hand_over(10, to_viewer=True)
    ranges.hand_over(0, to_viewer=False)
    assert ranges.by_screen(10)
    ranges.hand_over(0, to_viewer=True)
    assert not ranges.by_screen(0)


def test_what_the_screen_has_answered_is_not_answered_again() -> None:
    ranges = AnswerRanges()
    ranges.hand_over(10, to_viewer=True)
    ranges.hand_over(20, to_viewer=False)
    ranges.answered(30)
    assert ranges.answered_to == 30
    assert not ranges.by_screen(25)
    assert ranges.by_screen(30)
    assert ranges.boundary(20, 100) == 30


def test_the_number_of_changes_is_bounded() -> None:
    ranges = AnswerRanges()
    for at in range(10 * LIMIT):
        ranges.hand_over(at + 1, to_viewer=at % 2 == 0)
    changes, at = 0, 0
    while (at := ranges.boundary(at, 1 << 20)) < 1 << 20:
        changes += 1
    assert changes <= LIMIT
    assert ranges.by_screen(10 * LIMIT)
