"""Participants: the events that one viewer is sent, and their order."""

import asyncio
from typing import Any

import pytest

from hawse.api.people import TerminalLease, TerminalPresence, ViewerProfile, WriterLeaseEvent
from hawse_runtime.people import presence
from hawse_runtime.people.participants import Participants, ParticipantsCursor
from tests.support.runtime import Client, eventually


class Room:
    def __init__(self) -> None:
        self.size = (80, 24)
        self.woken = 0
        self.participants = Participants(lambda: self.size, self._resize, self._wake, self._wake)

    def _resize(self, cols: int, rows: int) -> None:
        self.size = (cols, rows)

    def _wake(self) -> None:
        self.woken += 1

    def events(self, cursor: ParticipantsCursor) -> list[tuple[str, Any]]:
        found = []
        while event := self.participants.next_event(cursor, 7):
            found.append(event)
        return found


@pytest.fixture
async def room() -> Room:
    return Room()


async def test_a_participant_is_announced_before_it_is_named_as_the_holder(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "NOTIFY_INTERVAL", 0.0)
    cursor = ParticipantsCursor()
    ada = room.participants.join(object(), ViewerProfile(key="a"), read_only=False, fit=None)
    room.participants.describe(ada, cursor)
    room.participants.join(object(), ViewerProfile(key="b"), read_only=False, fit=None)
    room.participants.set_lease(TerminalLease(id="t", action="take", viewer="b"))
    (joined, lease) = room.events(cursor)
    assert joined[0] == "joined"
    assert lease == ("lease", WriterLeaseEvent(mode="exclusive", holder="v2", epoch=1, applied=7))
    room.participants.close()


async def test_focus_decides_the_size_unless_the_viewer_is_read_only(room: Room) -> None:
    room.participants.join(object(), ViewerProfile(key="a"), read_only=False, fit=(100, 30))
    assert room.size == (100, 30)
    room.participants.join(object(), ViewerProfile(key="b", focus=True), read_only=True, fit=(10, 10))
    room.participants.set_presence(TerminalPresence(id="t", viewer="b", focus=True))
    assert room.size == (100, 30)
    room.participants.close()


async def test_a_null_pointer_hides_it_and_an_absent_one_leaves_it_unchanged(client: Client) -> None:
    await client.ask("terminal.create", id="t", argv=["cat"])
    await client.attach("t", viewer={"key": "k"}).event("opened")
    steps: list[tuple[dict[str, Any], Any]] = [
        ({"at": {"x": 1, "y": 2}}, {"x": 1, "y": 2}),
        ({"name": "N"}, {"x": 1, "y": 2}),
        ({"at": None}, None),
    ]
    for params, at in steps:
        answer = await client.ask("terminal.presence", id="t", viewer="k", **params)
        assert answer["viewer"]["at"] == at


async def test_close_cancels_all_timers(room: Room) -> None:
    viewer = object()
    ada = room.participants.join(viewer, ViewerProfile(key="a"), read_only=False, fit=(100, 30))
    room.participants.record_input(ada, b"x")
    room.participants.set_fit(ada, (90, 20))
    room.participants.leave(ada, viewer)
    room.participants.close()
    woken = room.woken
    loop = asyncio.get_running_loop()
    later = loop.create_future()
    loop.call_later(0.2, later.set_result, None)
    await later
    assert (room.woken, room.size) == (woken, (100, 30))


async def test_queries_are_answered_by_a_viewer_that_may_type_or_by_the_screen(client: Client) -> None:
    ask = "stty raw -echo; echo ready; while dd bs=1 count=1 2>/dev/null; do printf '\\033[6n'; done"
    await client.ask("terminal.create", id="t", argv=["sh", "-c", ask])
    page = client.attach("t", input="p", emulator=True, viewer={"key": "page"})
    assert (await page.event("opened"))["answers"]
    agent = client.attach("t", input="a", viewer={"key": "agent"})
    await agent.seen(b"ready")
    await client.ask("terminal.lease", id="t", action="take", viewer="agent")
    assert await page.event("answers") == {"answers": False}
    agent.send(b"x")
    await agent.until(
        lambda: agent.output.count(b"\x1b[6n") > 1
    )  # the screen answers, and each byte of its answer causes a query
    await client.ask("terminal.lease", id="t", action="free")
    assert await page.event("answers", 2) == {"answers": True}
    assert not page.closed


async def test_a_request_for_the_lease_ends_after_a_time_without_an_answer(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "NOTIFY_INTERVAL", 0.0)
    monkeypatch.setattr(presence, "ASK_TIMEOUT", 0.01)
    cursor = ParticipantsCursor()
    ada = room.participants.join(object(), ViewerProfile(key="a"), read_only=False, fit=None)
    room.participants.join(object(), ViewerProfile(key="b"), read_only=False, fit=None)
    room.participants.set_lease(TerminalLease(id="t", action="take", viewer="a"))
    room.participants.describe(ada, cursor)
    room.participants.set_lease(TerminalLease(id="t", action="ask", viewer="b"))
    bob = room.participants.find("b")
    assert [(event.viewer.asks, event.viewer.unanswered) for _, event in room.events(cursor)] == [(True, False)]
    # The timer has no separate event besides the awaited one.
    await eventually(lambda: not bob.asks)
    assert [(event.viewer.asks, event.viewer.unanswered) for _, event in room.events(cursor)] == [(False, True)]
    # The next request is one like the first, and a change of the lease forgets that there was no answer.
    room.participants.set_lease(TerminalLease(id="t", action="ask", viewer="b"))
    assert (bob.asks, bob.unanswered) == (True, False)
    await eventually(lambda: bob.unanswered)
    room.participants.set_lease(TerminalLease(id="t", action="release", viewer="a"))
    assert not bob.unanswered
    room.participants.close()


async def test_a_request_that_was_answered_or_withdrawn_does_not_end_later(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "ASK_TIMEOUT", 0.01)
    room.participants.join(object(), ViewerProfile(key="a"), read_only=False, fit=None)
    room.participants.join(object(), ViewerProfile(key="b"), read_only=False, fit=None)
    room.participants.set_lease(TerminalLease(id="t", action="take", viewer="a"))
    bob = room.participants.find("b")
    for viewer, answer in (("b", "withdraw"), ("a", "keep")):
        room.participants.set_lease(TerminalLease(id="t", action="ask", viewer="b"))
        room.participants.set_lease(TerminalLease(id="t", action=answer, viewer=viewer))  # type: ignore[arg-type]
        assert (bob.asks, bob.asking) == (False, None)
    room.participants.close()
