"""The snapshot cache, compared with a plain model: it is bounded, and the longest stalled viewer loses first."""

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from hawse.wire import HawseError
from hawse_runtime.screen.snapshot_cache import CachedSnapshot, SnapshotCache

LIMIT = 100


def snapshot(size: int) -> CachedSnapshot:
    return CachedSnapshot(bytes(i & 0xFF for i in range(size)), 0, 80, 24, 1)


class Viewer:
    def __init__(self, *, lossless: bool = False) -> None:
        self.lossless = lossless
        self.lost = 0

    def lose_snapshot(self) -> None:
        self.lost += 1


def test_a_snapshot_is_taken_in_parts_and_then_dropped() -> None:
    snapshots, viewer, given = SnapshotCache(LIMIT), Viewer(), snapshot(50)
    snapshots.put(viewer, given)
    assert (snapshots.held, snapshots.holds(viewer)) == (50, True)
    taken = []
    while snapshots.holds(viewer):
        at, part = snapshots.take(viewer, 20)
        taken.append((at, bytes(part)))
    assert taken == [(0, given.data[:20]), (20, given.data[20:40]), (40, given.data[40:])]
    assert snapshots.held == 0


def test_a_shared_snapshot_counts_once() -> None:
    snapshots, given, viewers = SnapshotCache(LIMIT), snapshot(LIMIT), [Viewer() for _ in range(50)]
    for viewer in viewers:
        snapshots.put(viewer, given)
    assert snapshots.held == LIMIT
    for viewer in viewers[:-1]:
        snapshots.drop(viewer)
    assert (snapshots.held, snapshots.holds(viewers[-1])) == (LIMIT, True)
    snapshots.take(viewers[-1], LIMIT)
    assert (snapshots.held, [viewer.lost for viewer in viewers]) == (0, [0] * 50)


def test_the_viewer_that_stalled_longest_loses_its_snapshot() -> None:
    snapshots, (first, second, third) = SnapshotCache(LIMIT), (Viewer(), Viewer(), Viewer())
    snapshots.put(first, snapshot(40))
    snapshots.put(second, snapshot(40))
    snapshots.take(first, 1)
    snapshots.put(third, snapshot(40))
    assert (first.lost, second.lost, third.lost) == (0, 1, 0)
    assert (snapshots.holds(first), snapshots.holds(second), snapshots.held) == (True, False, 80)


def test_a_lossless_viewer_keeps_its_snapshot_and_a_full_cache_refuses() -> None:
    snapshots, lossless = SnapshotCache(LIMIT), [Viewer(lossless=True), Viewer(lossless=True)]
    snapshots.put(lossless[0], snapshot(60))
    for later in (lossless[1], Viewer()):
        with pytest.raises(HawseError) as refused:
            snapshots.put(later, snapshot(60))
        assert refused.value.code == "limit_exceeded"
        assert not snapshots.holds(later)
    assert (snapshots.held, lossless[0].lost) == (60, 0)


def test_a_snapshot_larger_than_the_cache_is_kept_alone() -> None:
    snapshots, small, large = SnapshotCache(LIMIT), Viewer(), Viewer()
    snapshots.put(small, snapshot(1))
    snapshots.put(large, snapshot(2 * LIMIT))
    assert (snapshots.held, small.lost) == (2 * LIMIT, 1)


class SnapshotCacheMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.snapshots = SnapshotCache(LIMIT)
        self.viewers = [Viewer(lossless=n == 0) for n in range(6)]
        self.latest = snapshot(1)
        self.model: dict[Viewer, tuple[CachedSnapshot, int]] = {}

    @rule(index=st.integers(0, 5), size=st.integers(1, LIMIT), same=st.booleans())
    def put(self, index: int, size: int, same: bool) -> None:
        self.latest = self.latest if same else snapshot(size)
        viewer, before = self.viewers[index], [one.lost for one in self.viewers]
        self.model.pop(viewer, None)
        try:
            self.snapshots.put(viewer, self.latest)
        except HawseError:
            assert self.viewers[0] in self.model
        else:
            self.model[viewer] = self.latest, 0
        assert viewer.lost == before[index]
        for other, lost in zip(self.viewers, before, strict=True):
            if other.lost != lost:
                assert other.lost == lost + 1
                del self.model[other]

    @precondition(lambda self: self.model)
    @rule(data=st.data(), size=st.integers(1, LIMIT))
    def take(self, data: Any, size: int) -> None:
        viewer = data.draw(st.sampled_from([one for one in self.viewers if one in self.model]))
        kept, at = self.model.pop(viewer)
        place, part = self.snapshots.take(viewer, size)
        assert (place, bytes(part)) == (at, kept.data[at : at + size])
        if at + size < len(kept.data):
            self.model[viewer] = kept, at + size

    @rule(index=st.integers(0, 5))
    def drop(self, index: int) -> None:
        self.model.pop(self.viewers[index], None)
        self.snapshots.drop(self.viewers[index])

    @invariant()
    def held_snapshots_are_known_and_bounded(self) -> None:
        assert [self.snapshots.holds(viewer) for viewer in self.viewers] == [one in self.model for one in self.viewers]
        assert self.snapshots.held == sum(len(kept.data) for kept in {kept for kept, _ in self.model.values()})
        assert self.snapshots.held <= LIMIT
        assert self.viewers[0].lost == 0


TestSnapshotCache = SnapshotCacheMachine.TestCase
