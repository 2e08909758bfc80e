"""Portions are small from a key on, for a short time."""

import pytest
from hypothesis import given, strategies as st

from hawse.link.keystrokes import KEY, LEAST, REST, SMALL, TYPING, Keystrokes

LARGE = 96 << 10


class Clock:
    """A clock that only the test advances."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_portions_are_large_before_the_first_key() -> None:
    assert Keystrokes(Clock()).portion(LARGE) == LARGE


def test_portions_are_small_for_a_short_time_after_a_key() -> None:
    clock = Clock()
    keystrokes = Keystrokes(clock)
    keystrokes.note(1)
    assert (keystrokes.typing, keystrokes.portion(LARGE)) == (True, SMALL)
    clock.now += 0.9 * TYPING
    assert keystrokes.portion(LARGE) == SMALL
    clock.now += 0.2 * TYPING
    assert (keystrokes.typing, keystrokes.portion(LARGE)) == (False, LARGE)


def test_each_key_begins_the_time_anew() -> None:
    clock = Clock()
    keystrokes = Keystrokes(clock)
    for _ in range(5):
        keystrokes.note(3)
        clock.now += 0.9 * TYPING
        assert keystrokes.typing


@pytest.mark.parametrize(("size", "typing"), [(1, True), (KEY, True), (KEY + 1, False), (1 << 20, False)])
def test_a_long_input_is_not_typed(size: int, typing: bool) -> None:
    keystrokes = Keystrokes(Clock())
    keystrokes.note(size)
    assert keystrokes.typing is typing


@given(st.integers(0, 1 << 30))
def test_a_portion_is_never_larger_than_asked_for(size: int) -> None:
    keystrokes = Keystrokes(Clock())
    assert keystrokes.portion(size) == size
    keystrokes.note(1)
    assert keystrokes.portion(size) == min(size, SMALL)


def test_readers_share_a_small_portion_while_somebody_types() -> None:
    clock = Clock()
    keystrokes = Keystrokes(clock)
    assert keystrokes.turn(LARGE) == LARGE
    keystrokes.note(1)
    for _ in range(3):
        clock.now += 1.1 * REST
        assert keystrokes.turn(LARGE) == SMALL
        keystrokes.took(10_000)
        assert keystrokes.turn(LARGE) == SMALL - 10_000
        keystrokes.took(SMALL - 10_000)
        for _ in range(10):
            assert keystrokes.turn(LARGE) == LEAST
            keystrokes.took(LEAST)
        assert keystrokes.turn(100) == 100
    clock.now += TYPING
    assert keystrokes.turn(LARGE) == LARGE


def test_an_echo_takes_little_from_the_others() -> None:
    clock = Clock()
    keystrokes = Keystrokes(clock)
    keystrokes.note(1)
    keystrokes.turn(LARGE)
    keystrokes.took(1)
    assert keystrokes.turn(LARGE) == SMALL - 1
