"""The log of a watch against a plain list."""

from hypothesis import given, strategies as st

from hawse.api.watches import WatchedChange
from hawse_runtime.watch import change_log as watch_log
from hawse_runtime.watch.change_log import KEPT, PART, ChangeLog, merge


def added(*paths: str) -> list[WatchedChange]:
    return [WatchedChange("added", path) for path in paths]


def read_all(log: ChangeLog, cursor: int) -> list[WatchedChange]:
    """All that follows `cursor`, part by part."""
    changes = []
    while cursor < log.end:
        part, cursor = log.read(cursor)
        changes += part
    return changes


def test_each_reader_gets_what_follows_its_cursor() -> None:
    log = ChangeLog()
    log.add(added("a", "b"))
    log.add(added("c"))
    assert log.read(0) == (added("a", "b", "c"), 3)
    assert log.read(2) == (added("c"), 3)
    assert log.read(3) == ([], 3)
    assert log.missing(0) is None


def test_the_changes_of_one_path_are_merged() -> None:
    log = ChangeLog()
    log.add([WatchedChange("added", "a"), WatchedChange("modified", "a"), *added("b"), WatchedChange("deleted", "a")])
    assert log.read(0) == ([WatchedChange("added", "b"), WatchedChange("deleted", "a")], 4)


def test_a_replaced_entry_is_modified_and_a_new_one_stays_added() -> None:
    merged: dict[str, WatchedChange] = {}
    for change in (
        WatchedChange("deleted", "a"),
        WatchedChange("added", "a"),
        WatchedChange("added", "b"),
        WatchedChange("modified", "b"),
    ):
        merge(merged, change)
    assert list(merged.values()) == [WatchedChange("modified", "a"), WatchedChange("added", "b")]


def test_cursors_before_the_oldest_kept_change_are_behind() -> None:
    log = ChangeLog()
    log.add(added(*(str(number) for number in range(KEPT + 5))))
    assert log.start == 5
    assert log.missing(4) == "behind"
    assert log.missing(5) is None
    assert len(read_all(log, 5)) == KEPT


def test_long_paths_are_bounded_in_bytes() -> None:
    log = ChangeLog()
    log.add(added(*(f"{number}-" + "x" * 4000 for number in range(2000))))
    assert (log.end - log.start) * 4000 <= watch_log.KEPT_BYTES
    part, _ = log.read(log.start)
    assert sum(len(change.path) for change in part) <= watch_log.PART_BYTES


def test_an_overflow_is_reported_to_cursors_before_it() -> None:
    log = ChangeLog()
    log.add(added("a"))
    log.lose()
    log.add(added("b"))
    assert log.missing(0) == log.missing(1) == "overflow"
    assert log.missing(2) is None
    assert read_all(log, 2) == added("b")


@given(st.lists(st.lists(st.integers(0, 20), max_size=60), max_size=8), st.integers(0, 100))
def test_read_in_parts_or_at_once_nothing_is_missing(batches: list[list[int]], cursor: int) -> None:
    log = ChangeLog()
    plain = []
    for batch in batches:
        log.add(added(*map(str, batch)))
        plain += batch
    cursor = min(cursor, log.end)
    assert {change.path for change in read_all(log, cursor)} == {str(number) for number in plain[cursor:]}


def test_a_part_is_bounded_and_the_next_part_continues_after_it() -> None:
    log = ChangeLog()
    log.add(added(*(str(number) for number in range(2 * PART + 1))))
    sizes = []
    cursor = 0
    while cursor < log.end:
        part, cursor = log.read(cursor)
        sizes.append(len(part))
    assert sizes == [PART, PART, 1]
