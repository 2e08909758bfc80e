"""The journal against a plain `bytes` model."""

import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from hawse.wire import HawseError
from hawse_runtime.journal.journal import FIRST_SIZE, LEAST_CAPACITY, Journal, JournalPool
from hawse_runtime.journal.limits import DEFAULT_CAPACITY, JournalLimits


class JournalMachine(RuleBasedStateMachine):
    """All that was ever appended, and how much of it may be kept."""

    @initialize(capacity=st.integers(1, 5 * FIRST_SIZE))
    def start(self, capacity: int) -> None:
        self.journal = Journal(capacity)
        self.all = b""
        self.counter = 0
        self.kept_from = 0
        assert capacity <= self.journal.capacity < 2 * capacity

    def _bytes(self, size: int) -> bytes:
        self.counter += 1
        return bytes((self.counter * 31 + i * 7) & 0xFF for i in range(size))

    @rule(size=st.one_of(st.integers(0, 64), st.integers(0, 3 * FIRST_SIZE), st.integers(0, 12 * FIRST_SIZE)))
    def append(self, size: int) -> None:
        data = self._bytes(size)
        self.journal.append(memoryview(data) if size % 2 else data)
        self.all += data
        self.kept_from = max(self.kept_from, len(self.all) - self.journal.capacity)

    @rule(capacity=st.integers(1, 5 * FIRST_SIZE))
    def limit(self, capacity: int) -> None:
        self.journal.limit(capacity)
        self.kept_from = max(self.kept_from, len(self.all) - self.journal.capacity)

    @rule(data=st.data())
    def read(self, data: st.DataObject) -> None:
        start = data.draw(st.integers(self.journal.start, self.journal.end))
        size = data.draw(st.integers(0, 2 * FIRST_SIZE))
        part = bytes(self.journal.read(start, size))
        assert part == self.all[start : start + len(part)]
        assert len(part) <= size
        assert part or not size or start == self.journal.end, "nothing although there is something"
        stop = data.draw(st.integers(start, self.journal.end))
        assert self.journal.copy(start, stop) == self.all[start:stop]

    @invariant()
    def holds_the_last_bytes(self) -> None:
        if not hasattr(self, "journal"):
            return
        journal = self.journal
        assert journal.end == len(self.all)
        assert journal.start == self.kept_from
        assert len(journal) == journal.end - journal.start <= journal.capacity
        assert journal.copy(journal.start, journal.end) == self.all[journal.start :]


JournalMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
TestJournal = JournalMachine.TestCase


def test_an_offset_outside_is_refused() -> None:
    journal = Journal(FIRST_SIZE)
    journal.append(b"x" * (FIRST_SIZE + 10))
    with pytest.raises(ValueError, match="not in"):
        journal.read(9, 1)
    with pytest.raises(ValueError, match="not in"):
        journal.read(FIRST_SIZE + 11, 1)
    assert bytes(journal.read(FIRST_SIZE + 10, 1)) == b""


def test_an_idle_journal_is_small_and_grows_by_doubling() -> None:
    journal = Journal(1 << 20)
    assert journal.allocated == FIRST_SIZE
    journal.append(b"x" * (FIRST_SIZE + 1))
    assert journal.allocated == 2 * FIRST_SIZE


@given(st.integers(1, 64), st.integers(1, 64))
@settings(max_examples=50, deadline=None)
def test_a_pool_gives_each_an_equal_share_and_keeps_its_total(count: int, total: int) -> None:
    pool = JournalPool(JournalLimits(total=total * LEAST_CAPACITY, each=8 * LEAST_CAPACITY))
    journals = [pool.journal() for _ in range(min(count, total))]
    assert {journal.capacity for journal in journals} == {8 * LEAST_CAPACITY}
    for _ in range(12):
        for journal in journals:
            journal.append(b"x" * LEAST_CAPACITY)
            assert pool.memory <= total * LEAST_CAPACITY
    assert {len(journal) for journal in journals} == {journals[0].capacity}
    assert (
        2 * sum(journal.capacity for journal in journals) > total * LEAST_CAPACITY
        or journals[0].capacity == 8 * LEAST_CAPACITY
    )


def test_small_journals_leave_the_rest_of_their_share_to_the_others() -> None:
    pool = JournalPool(JournalLimits(total=64 * LEAST_CAPACITY, each=16 * LEAST_CAPACITY))
    idle = [pool.journal() for _ in range(60)]
    busy = [pool.journal() for _ in range(3)]
    for journal in busy:
        journal.append(b"x" * (16 * LEAST_CAPACITY))
    assert [len(journal) for journal in busy] == [16 * LEAST_CAPACITY] * 3
    for journal in idle:
        journal.append(b"x" * LEAST_CAPACITY)
    assert pool.memory <= 64 * LEAST_CAPACITY
    assert [len(journal) for journal in idle] == [LEAST_CAPACITY] * 60


@pytest.mark.parametrize("capacity", [4096, LEAST_CAPACITY, DEFAULT_CAPACITY])
def test_a_portion_leaves_room_for_three_more(capacity: int) -> None:
    assert 4 * Journal(capacity).portion() <= capacity


def test_a_pool_that_is_used_up_refuses_and_gives_again_what_came_back() -> None:
    pool = JournalPool(JournalLimits(total=3 * LEAST_CAPACITY))
    journals = [pool.journal() for _ in range(3)]
    with pytest.raises(HawseError) as refused:
        pool.journal()
    assert refused.value.code == "limit_exceeded"
    del journals[1:]
    assert pool.journal().capacity >= LEAST_CAPACITY


def test_shares_grow_again_when_there_are_fewer() -> None:
    pool = JournalPool(JournalLimits(total=4 * LEAST_CAPACITY))
    journals = [pool.journal() for _ in range(4)]
    for journal in journals * 2:
        journal.append(b"y" * LEAST_CAPACITY)
    assert [len(journal) for journal in journals] == [LEAST_CAPACITY] * 4
    del journal, journals[1:]
    journals.append(pool.journal())
    journals[0].append(b"z" * LEAST_CAPACITY)
    assert journals[0].copy(LEAST_CAPACITY, journals[0].end) == b"y" * LEAST_CAPACITY + b"z" * LEAST_CAPACITY


def test_a_smaller_share_shrinks_existing_journals_and_ends_with_its_journal() -> None:
    pool = JournalPool(JournalLimits(total=4 * LEAST_CAPACITY, each=4 * LEAST_CAPACITY))
    first = pool.journal()
    assert first.capacity == 4 * LEAST_CAPACITY
    first.append(b"y" * (4 * LEAST_CAPACITY))
    second = pool.journal()
    assert first.start == 2 * LEAST_CAPACITY
    second.append(b"z" * (4 * LEAST_CAPACITY))
    assert len(second) == 2 * LEAST_CAPACITY
    del first
    third = pool.journal()
    third.append(b"w" * (2 * LEAST_CAPACITY))
    assert len(second) == len(third) == 2 * LEAST_CAPACITY


def test_a_journal_that_has_shrunk_to_a_few_bytes_has_no_share_and_does_not_grow_again() -> None:
    pool = JournalPool(JournalLimits(total=4 * LEAST_CAPACITY, each=LEAST_CAPACITY))
    kept = [pool.journal() for _ in range(4)]
    with pytest.raises(HawseError):
        pool.journal()
    for old in kept[:3]:
        old.limit(8192)
    kept += [pool.journal() for _ in range(2)]  # what they hold is still counted
    assert [journal.capacity for journal in kept[:3]] == [8192] * 3
    with pytest.raises(HawseError):
        pool.journal()


def test_a_sealed_journal_frees_unused_memory_and_keeps_its_bytes() -> None:
    pool = JournalPool(JournalLimits(total=2 * LEAST_CAPACITY))
    kept = []
    for number in range(100):
        journal = pool.journal()
        journal.append(b"hello" * number)
        journal.seal()
        kept.append(journal)
    assert [journal.copy(0, journal.end) for journal in kept] == [b"hello" * number for number in range(100)]
    assert kept[1].capacity == 8


def test_unread_bytes_are_kept_when_a_share_shrinks_and_dropped_when_they_are_read() -> None:
    pool = JournalPool(JournalLimits(total=4 * LEAST_CAPACITY, each=4 * LEAST_CAPACITY))
    first = pool.journal()
    taken = 1000
    first.needed = lambda: taken
    first.append(b"y" * (2 * LEAST_CAPACITY))
    others = [pool.journal() for _ in range(3)]
    for other in others:
        other.append(b"y" * LEAST_CAPACITY)
    assert first.capacity == LEAST_CAPACITY
    assert first.start <= taken
    first.append(b"z" * LEAST_CAPACITY)  # the last output of a program
    assert first.copy(taken, first.end) == b"y" * (2 * LEAST_CAPACITY - taken) + b"z" * LEAST_CAPACITY
    taken = first.end
    first.append(b"x")
    assert len(first) <= first.capacity == others[0].capacity
