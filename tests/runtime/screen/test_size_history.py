"""The size history: sizes by offset and number, of which the oldest are dropped."""

import pytest

from hawse_runtime.screen import size_history as module
from hawse_runtime.screen.size_history import SizeHistory, SizeMark


def test_a_change_applies_before_the_byte_at_its_offset() -> None:
    marks = SizeHistory(80, 24)
    marks.add(SizeMark(0, 100, 30))
    marks.add(SizeMark(500, 90, 20))
    assert [marks.get(number) for number in range(4)] == [
        SizeMark(0, 80, 24),
        SizeMark(0, 100, 30),
        SizeMark(500, 90, 20),
        None,
    ]
    assert marks.latest == SizeMark(500, 90, 20)
    assert marks.size_at(0) == (80, 24, 1)
    assert marks.size_at(1) == marks.size_at(500) == (100, 30, 2)
    assert marks.size_at(501) == (90, 20, 3)


def test_numbers_continue_when_the_oldest_changes_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LIMIT", 10)
    marks = SizeHistory(80, 24)
    for number in range(1, 51):
        marks.add(SizeMark(number, 100 + number, 24))
    assert marks.first == 41
    assert marks.get(41) == SizeMark(41, 141, 24)
    assert marks.size_at(45) == (144, 24, 45)


def test_a_place_is_behind_the_changes_at_its_offset() -> None:
    sizes = SizeHistory(80, 24)
    sizes.add(SizeMark(10, 100, 30))
    sizes.add(SizeMark(10, 90, 20))
    assert sizes.next == 3
    assert sizes.place_at(9) == (9, 80, 24, 1)
    assert sizes.place_at(10) == (10, 90, 20, 3)
