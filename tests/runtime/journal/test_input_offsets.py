"""Input is applied exactly once, also if parts of it are sent again."""

import pytest
from hypothesis import given, settings, strategies as st

from hawse.wire import HawseError
from hawse_runtime.journal.input_offsets import KEPT_IDS, InputOffsets

STREAM = bytes(range(256)) * 4


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 300), st.integers(0, 200)), max_size=60))
@settings(max_examples=200, deadline=None)
def test_whatever_is_resent_arrives_once_and_in_order(sends: list[tuple[str, int, int]]) -> None:
    inputs = InputOffsets()
    arrived = {"a": b"", "b": b"", "c": b""}
    for input_id, offset, size in sends:
        payload = STREAM[offset : offset + size]
        before = len(arrived[input_id])
        if offset > before:
            with pytest.raises(HawseError, match="input_gap") as gap:
                inputs.new_part(input_id, offset, payload)
            assert gap.value.details == {"applied": before}
            continue
        fresh = bytes(inputs.new_part(input_id, offset, memoryview(payload)))
        inputs.advance(input_id, len(fresh))
        arrived[input_id] += fresh
        assert inputs.applied(input_id) == len(arrived[input_id]) == max(before, offset + len(payload))
    assert all(data == STREAM[: len(data)] for data in arrived.values())


def test_a_new_id_begins_at_zero() -> None:
    assert InputOffsets().applied("new") == 0


def test_the_id_that_was_unused_for_longest_is_forgotten() -> None:
    inputs = InputOffsets()
    for number in range(KEPT_IDS):
        inputs.advance(str(number), 1)
    inputs.advance("0", 1)
    inputs.advance("one more", 1)
    assert inputs.applied("0") == 2
    assert inputs.applied("1") == 0
    assert inputs.applied("2") == 1
