"""Used keys: exact up to their number, the oldest is forgotten first, and they take little memory."""

import tracemalloc

from hypothesis import given, strategies as st

from hawse.rpc.used_keys import UsedKeys


def test_the_latest_keys_are_kept_and_older_ones_forgotten() -> None:
    keys = UsedKeys(3)
    for name in ("a", "b", "c", "d", "e"):
        keys.add(name)
    assert [name for name in "abcde" if name in keys] == ["c", "d", "e"]
    assert len(keys) == 3


def test_a_key_that_is_added_again_keeps_its_place() -> None:
    keys = UsedKeys(2)
    for name in ("a", "a", "b", "c"):
        keys.add(name)
    assert [name for name in "abc" if name in keys] == ["b", "c"]


def test_without_room_no_key_is_kept() -> None:
    keys = UsedKeys(0)
    keys.add("a")
    assert "a" not in keys


def test_a_key_may_have_any_characters() -> None:
    keys = UsedKeys(2)
    keys.add("owner\n漢\udc80")
    assert "owner\n漢\udc80" in keys


@given(limit=st.integers(1, 12), added=st.lists(st.integers(0, 40), max_size=200))
def test_it_holds_the_same_keys_as_a_list_of_the_latest(limit: int, added: list[int]) -> None:
    keys, latest = UsedKeys(limit), list[int]()
    for number in added:
        keys.add(str(number))
        if number not in latest:
            latest = [*latest, number][-limit:]
        assert [number for number in range(41) if str(number) in keys] == sorted(latest)
        assert len(keys) == len(latest)


def test_its_memory_is_level_from_the_start() -> None:
    limit = 20_000
    tracemalloc.start()
    try:
        keys = UsedKeys(limit)
        empty, _ = tracemalloc.get_traced_memory()
        for number in range(2 * limit):
            keys.add(f"owner\nkey-{number:020}")
        full, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert full < 40 * limit
    assert full - empty < 10 * limit
