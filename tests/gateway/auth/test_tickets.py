import pytest

from gateway.auth.tickets import LIFETIME, OUTSTANDING, Tickets
from hawse.wire import HawseError


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_ticket_works_once() -> None:
    tickets = Tickets(Clock())
    ticket = tickets.issue("owner")
    assert tickets.take(ticket)
    assert not tickets.take(ticket)


def test_a_ticket_is_good_for_the_role_it_was_made_for() -> None:
    tickets = Tickets(Clock())
    made = {role: tickets.issue(role) for role in ("owner", "viewer")}
    assert {role: tickets.take(ticket) for role, ticket in made.items()} == {"owner": "owner", "viewer": "viewer"}


def test_a_made_up_ticket_does_not_work() -> None:
    tickets = Tickets(Clock())
    tickets.issue("owner")
    assert not tickets.take("")
    assert not tickets.take("x" * 43)
    assert not tickets.take("\udcff")


def test_a_ticket_expires() -> None:
    clock = Clock()
    tickets = Tickets(clock)
    early, late = tickets.issue("owner"), tickets.issue("owner")
    clock.now += LIFETIME - 0.001
    assert tickets.take(early)
    clock.now += 0.001
    assert not tickets.take(late)


def test_tickets_are_long_and_all_different() -> None:
    tickets = Tickets(Clock())
    made = {tickets.issue("owner") for _ in range(100)}
    assert len(made) == 100
    assert min(map(len, made)) >= 43


def test_outstanding_tickets_are_bounded_and_expired_ones_make_room() -> None:
    clock = Clock()
    tickets = Tickets(clock)
    for _ in range(OUTSTANDING):
        tickets.issue("owner")
    with pytest.raises(HawseError) as caught:
        tickets.issue("owner")
    assert caught.value.code == "limit_exceeded"
    clock.now += LIFETIME
    assert tickets.take(tickets.issue("owner"))
