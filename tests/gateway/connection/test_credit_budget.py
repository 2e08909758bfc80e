"""The credit budget: limited in total, with a minimum for each channel."""

from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from hawse_gateway.connection.credit_budget import QUANTUM, CreditBudget

KIB = 1024


def test_a_grant_that_fits_is_passed_on_at_once() -> None:
    assert CreditBudget().more(1, 512 * KIB) == 512 * KIB


def test_a_window_is_passed_on_only_once() -> None:
    budget = CreditBudget()
    budget.more(1, 512 * KIB)
    assert budget.more(1, 512 * KIB) == 0
    assert budget.more(1, 600 * KIB) == 88 * KIB


def test_beyond_the_total_a_channel_gets_its_floor() -> None:
    budget = CreditBudget(total=100 * KIB, floor=16 * KIB)
    assert budget.more(1, 100 * KIB) == 100 * KIB
    assert budget.more(2, 100 * KIB) == 16 * KIB
    assert budget.held == 116 * KIB


def test_held_back_credit_is_granted_when_there_is_room() -> None:
    budget = CreditBudget(total=100 * KIB, floor=16 * KIB)
    budget.more(1, 100 * KIB)
    budget.more(2, 100 * KIB)
    assert budget.more(2, 100 * KIB) == 0
    budget.sent(1, 64 * KIB)
    assert budget.more(2, 100 * KIB) == 48 * KIB


def test_the_share_of_a_closed_channel_is_given_to_the_others() -> None:
    budget = CreditBudget(total=100 * KIB, floor=16 * KIB)
    budget.more(1, 100 * KIB)
    budget.more(2, 100 * KIB)
    budget.close(1)
    assert budget.more(2, 100 * KIB) == 84 * KIB
    assert budget.held == 100 * KIB


def test_a_small_amount_is_granted_only_if_it_is_all_that_remains() -> None:
    budget = CreditBudget(total=100 * KIB, floor=16 * KIB)
    budget.more(1, 100 * KIB)
    budget.more(2, 100 * KIB)
    budget.sent(2, 100)
    assert budget.more(2, 100 * KIB - 100) == 0
    assert budget.more(3, 10) == 10


def test_an_overdrawn_channel_is_restored_by_its_next_grant() -> None:
    budget = CreditBudget()
    budget.more(1, 100)
    budget.sent(1, 1000)  # an event larger than the window
    assert budget.held == 0
    assert budget.more(1, -900 + 5000) == 5000


def test_a_channel_that_is_not_open_counts_for_nothing() -> None:
    budget = CreditBudget()
    budget.sent(9, 100)
    budget.close(9)
    assert budget.held == 0


class BudgetMachine(RuleBasedStateMachine):
    """Clients grant, runtimes send what they may, clients take it: in any order."""

    TOTAL = 64 * KIB
    FLOOR = 16 * KIB

    def __init__(self) -> None:
        super().__init__()
        self.budget = CreditBudget(self.TOTAL, self.FLOOR)
        self.window: dict[int, int] = {}  # what the client granted and was not sent
        self.upstream: dict[int, int] = {}  # what was passed on and did not come
        self.queued: dict[int, int] = {}  # what came and was not sent

    def pass_on(self, ch: int) -> None:
        self.upstream[ch] += self.budget.more(ch, self.window[ch])

    channels = st.integers(1, 6)

    @rule(ch=channels, size=st.integers(0, 128 * KIB))
    def grant(self, ch: int, size: int) -> None:
        for by_channel in (self.window, self.upstream, self.queued):
            by_channel.setdefault(ch, 0)
        self.window[ch] += size
        self.pass_on(ch)

    @precondition(lambda self: self.window)
    @rule(data=st.data(), share=st.floats(0, 1))
    def come(self, data: st.DataObject, share: float) -> None:
        ch = data.draw(st.sampled_from(sorted(self.window)))
        size = int(self.upstream[ch] * share)
        self.upstream[ch] -= size
        self.queued[ch] += size

    @precondition(lambda self: self.window)
    @rule(data=st.data(), share=st.floats(0, 1))
    def take(self, data: st.DataObject, share: float) -> None:
        ch = data.draw(st.sampled_from(sorted(self.window)))
        size = int(self.queued[ch] * share)
        self.queued[ch] -= size
        self.window[ch] -= size
        self.budget.sent(ch, size)
        self.pass_on(ch)

    @precondition(lambda self: self.window)
    @rule(data=st.data())
    def close(self, data: st.DataObject) -> None:
        ch = data.draw(st.sampled_from(sorted(self.window)))
        self.budget.close(ch)
        for by_channel in (self.window, self.upstream, self.queued):
            del by_channel[ch]

    @invariant()
    def what_may_come_is_bounded(self) -> None:
        held = sum(self.upstream.values()) + sum(self.queued.values())
        assert held == self.budget.held
        assert held <= self.TOTAL + self.FLOOR * len(self.window)

    @invariant()
    def nothing_is_passed_on_that_was_not_granted(self) -> None:
        for ch, window in self.window.items():
            assert self.upstream[ch] + self.queued[ch] <= window

    @invariant()
    def a_granted_channel_with_nothing_under_way_may_send(self) -> None:
        for ch, window in self.window.items():
            if window and not self.queued[ch]:
                assert self.upstream[ch] >= min(window, self.FLOOR) - QUANTUM
                assert self.upstream[ch] > 0


TestBudget = BudgetMachine.TestCase
TestBudget.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
