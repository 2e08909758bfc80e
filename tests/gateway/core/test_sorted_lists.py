import random

import pytest

from hawse_gateway.core.sorted_lists import MANY, merge


@pytest.mark.parametrize("count", [0, 1, MANY, MANY + 1, 5 * MANY])
def test_items_are_moved_to_their_places(count: int) -> None:
    choice = random.Random(count)
    ordered = sorted(range(0, 1000, 3), reverse=True)
    added = [choice.randrange(1000) for _ in range(count)]
    everything = sorted(ordered + added, reverse=True)
    merge(ordered, added, key=lambda each: -each)
    assert (ordered, added) == (everything, [])
