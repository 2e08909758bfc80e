from hawse_gateway.auth import principals
from hawse_gateway.auth.identity import Identity
from hawse_gateway.auth.tickets import LIFETIME, OUTSTANDING, Tickets
from tests.support import principals as tested

OWNER = Identity(principals.OWNER, "owner-1")
VIEWER = Identity(tested.VIEWER, "token-1")


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_ticket_works_once() -> None:
    tickets = Tickets(Clock())
    ticket = tickets.issue(OWNER)
    assert tickets.take(ticket)
    assert not tickets.take(ticket)


def test_a_ticket_is_valid_for_the_principal_it_was_issued_for() -> None:
    tickets = Tickets(Clock())
    issued = [tickets.issue(principal) for principal in (OWNER, VIEWER)]
    assert [tickets.take(ticket) for ticket in issued] == [OWNER, VIEWER]


def test_an_invented_ticket_does_not_work() -> None:
    tickets = Tickets(Clock())
    tickets.issue(OWNER)
    assert not tickets.take("")
    assert not tickets.take("x" * 43)
    assert not tickets.take("\udcff")


def test_a_ticket_expires() -> None:
    clock = Clock()
    tickets = Tickets(clock)
    early, late = tickets.issue(OWNER), tickets.issue(OWNER)
    clock.now += LIFETIME - 0.001
    assert tickets.take(early)
    clock.now += 0.001
    assert not tickets.take(late)


def test_tickets_are_long_and_all_different() -> None:
    tickets = Tickets(Clock())
    made = {tickets.issue(OWNER) for _ in range(100)}
    assert len(made) == 100
    assert min(map(len, made)) >= 43


def test_at_the_limit_the_oldest_ticket_of_the_principal_that_has_most_becomes_invalid() -> None:
    tickets = Tickets(Clock())
    owners = [tickets.issue(OWNER) for _ in range(3)]
    viewers = [tickets.issue(VIEWER) for _ in range(OUTSTANDING)]
    owners.append(tickets.issue(OWNER))
    assert [tickets.take(ticket) for ticket in owners] == [OWNER] * 4
    assert [tickets.take(ticket) for ticket in viewers] == [None] * 4 + [VIEWER] * (OUTSTANDING - 4)


def test_expired_tickets_make_room() -> None:
    clock = Clock()
    tickets = Tickets(clock)
    early = [tickets.issue(OWNER) for _ in range(OUTSTANDING - 1)]
    clock.now += LIFETIME / 2
    late = tickets.issue(OWNER)
    clock.now += LIFETIME / 2
    new = tickets.issue(OWNER)
    assert not tickets.take(early[-1])
    assert [tickets.take(late), tickets.take(new)] == [OWNER, OWNER]
