"""Slots: principals take turns, and a stream that is not read gives its slot up."""

import asyncio

import pytest

from hawse.api import rights
from hawse.wire import Principal
from hawse_runtime.rpc import stream_slots
from hawse_runtime.rpc.stream_slots import BLOCK, BLOCK_MIN, StreamSlots
from tests.support.waiting import TIMEOUT

OWNER = Principal(id="owner", name="owner", kind="owner", rights=(rights.ALL,))
GUEST = Principal(id="guest", name="guest", kind="guest", rights=(rights.VIEW,))


class User:
    """A stream that enters at once. `ended`: it has given its slot up."""

    def __init__(self, slots: StreamSlots, principal: Principal = OWNER) -> None:
        self.principal = principal
        self.busy = self.begun = self.ended = False
        self._slots = slots
        slots.enter(self)

    def begin(self) -> None:
        self.begun = True

    def give_up(self) -> None:
        self.ended = True
        self._slots.leave(self)


@pytest.fixture
async def slots(monkeypatch: pytest.MonkeyPatch) -> StreamSlots:
    """Eight slots, which are reclaimed only when the test calls `reclaim`."""
    monkeypatch.setattr(stream_slots, "STALLED", 3600.0)
    return StreamSlots(8)


def stall(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count every stream without progress from now on as stalled."""
    monkeypatch.setattr(stream_slots, "STALLED", 0.0)


async def test_streams_beyond_the_limit_begin_in_order_when_others_leave(slots: StreamSlots) -> None:
    users = [User(slots) for _ in range(10)]
    assert [user.begun for user in users] == [True] * 8 + [False] * 2
    slots.leave(users[3])
    slots.leave(users[3])
    assert [user.begun for user in users[8:]] == [True, False]
    slots.leave(users[9])  # it gives up waiting
    slots.leave(users[0])
    assert not users[9].begun
    assert User(slots).begun


async def test_principals_take_turns_and_guests_leave_slots_to_the_owner(slots: StreamSlots) -> None:
    guests = [User(slots, GUEST) for _ in range(10)]
    assert sum(user.begun for user in guests) == 6
    owners = [User(slots) for _ in range(4)]
    assert [user.begun for user in owners] == [True, True, False, False]
    slots.leave(guests[0])
    slots.leave(guests[1])
    assert (sum(user.begun for user in guests), [user.begun for user in owners]) == (7, [True, True, True, False])


async def test_a_stream_without_progress_gives_its_slot_to_one_that_waits(
    slots: StreamSlots, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = [User(slots) for _ in range(8)]
    users[0].busy = True
    waiting = [User(slots), User(slots)]
    slots.reclaim()
    assert not any(user.ended for user in users), "none has stalled yet"
    stall(monkeypatch)
    slots.reclaim()
    assert [user.ended for user in users] == [False, True, True] + [False] * 5
    assert all(user.begun for user in waiting)


async def test_streams_of_the_owner_do_not_give_way_to_guests(
    slots: StreamSlots, monkeypatch: pytest.MonkeyPatch
) -> None:
    owners = [User(slots) for _ in range(7)]
    first, second = User(slots, GUEST), User(slots, GUEST)
    stall(monkeypatch)
    slots.reclaim()
    assert not any(user.ended for user in owners)
    assert (first.ended, second.begun) == (True, True)


async def test_waiting_streams_reclaim_slots_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_slots, "STALLED", 0.001)
    slots = StreamSlots(1)
    stalled, begun = User(slots), asyncio.Event()

    class Waiting(User):
        def begin(self) -> None:
            begun.set()

    Waiting(slots)
    async with asyncio.timeout(TIMEOUT):
        await begun.wait()
    assert stalled.ended


async def test_blocks_are_smaller_when_many_streams_are_open() -> None:
    slots = StreamSlots(4096)
    users = [User(slots) for _ in range(4096)]
    assert slots.block_size() == BLOCK_MIN
    for user in users[8:]:
        slots.leave(user)
    assert slots.block_size() == BLOCK
