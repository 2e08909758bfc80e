from contextlib import ExitStack

import pytest

from hawse.api import rights
from hawse.rpc.shares import Shares
from hawse.wire import HawseError, Principal

OWNER = Principal(id="owner", name="owner", kind="owner", rights=(rights.ALL,))
GUESTS = [Principal(id=f"g{n}", name="guest", kind="guest", rights=(rights.VIEW,)) for n in range(3)]


def fill(shares: Shares, principal: Principal, held: ExitStack) -> int:
    """Hold as many as `principal` may; return how many these are."""
    before = shares.held
    with pytest.raises(HawseError) as refused:
        while True:
            held.enter_context(shares.hold(principal))
    assert refused.value.code == "limit_exceeded"
    return shares.held - before


def test_the_owner_may_hold_all() -> None:
    with ExitStack() as held:
        assert fill(Shares(16, "seats"), OWNER, held) == 16


def test_no_guest_takes_everything_from_other_guests_and_all_guests_leave_a_share_to_the_owner() -> None:
    shares = Shares(16, "seats")
    with ExitStack() as held:
        assert [fill(shares, guest, held) for guest in GUESTS] == [12, 2, 0]
        assert fill(shares, OWNER, held) == 2
        assert shares.held == 16


def test_a_released_share_is_available_again() -> None:
    shares = Shares(8, "seats")
    for _ in range(2):
        with ExitStack() as held:
            assert fill(shares, GUESTS[0], held) == 6
    with ExitStack() as held:
        assert fill(shares, OWNER, held) == 8
    assert shares.held == 0


@pytest.mark.parametrize(("total", "guests"), [(1, 0), (2, 1), (3, 2)])
def test_the_owner_has_a_share_of_a_small_total(total: int, guests: int) -> None:
    shares = Shares(total, "seats")
    with ExitStack() as held:
        assert fill(shares, GUESTS[0], held) == guests
        assert fill(shares, OWNER, held) == total - guests


def test_the_error_names_the_limit_that_was_reached() -> None:
    shares = Shares(8, "seats")
    with ExitStack() as held:
        fill(shares, GUESTS[0], held)
        with pytest.raises(HawseError, match="'g0' has 6 seats open"):
            shares.check(GUESTS[0])
        fill(shares, GUESTS[1], held)
        with pytest.raises(HawseError, match="guests have 7 seats open"):
            shares.check(GUESTS[2])
        fill(shares, OWNER, held)
        with pytest.raises(HawseError, match="8 seats are open"):
            shares.check(OWNER)
