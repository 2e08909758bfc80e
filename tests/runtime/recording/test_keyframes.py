"""The schedule of keyframes, and the matching of screens to requests."""

from hawse_runtime.recording.keyframes import AT_LAST, EVERY, SECONDS, SHARE, KeyframePlan


def test_keyframes_are_apart_in_bytes_and_in_time() -> None:
    plan = KeyframePlan(100)
    assert not plan.due(100 + EVERY - 1, 9.0)
    assert plan.due(100 + EVERY, 9.0)
    plan.painted(plan.begin(100 + EVERY, 9.0), b"x")
    assert plan.take() == b"x"
    assert not plan.due(100 + 2 * EVERY, 9.0 + SECONDS / 2)
    assert plan.due(100 + 2 * EVERY, 9.0 + SECONDS)


def test_fast_output_has_keyframes_as_well() -> None:
    plan = KeyframePlan(0)
    assert not plan.due(AT_LAST - 1, 0.0)
    assert plan.due(AT_LAST, 0.0)


def test_keyframes_are_a_small_part_of_the_recording() -> None:
    plan = KeyframePlan(0)
    plan.painted(plan.begin(EVERY, 1.0), bytes(EVERY))
    plan.take()
    assert not plan.due(EVERY + SHARE * EVERY - 1, 9.0)
    assert plan.due(EVERY + SHARE * EVERY, 9.0)


def test_one_keyframe_is_on_its_way_at_a_time() -> None:
    plan = KeyframePlan(0)
    number = plan.begin(EVERY, 1.0)
    assert plan.pending
    assert not plan.ready
    assert not plan.due(9 * EVERY, 9.0)
    plan.painted(number, b"")
    assert plan.ready
    assert plan.take() == b""
    assert not plan.pending


def test_the_screen_of_a_keyframe_that_was_dropped_is_ignored() -> None:
    plan = KeyframePlan(0)
    first = plan.begin(EVERY, 1.0)
    plan.drop()
    plan.painted(first, b"late")
    assert not plan.ready
    second = plan.begin(2 * EVERY, 2.0)
    plan.painted(first, b"late")
    assert not plan.ready
    plan.painted(second, b"new")
    assert plan.take() == b"new"
