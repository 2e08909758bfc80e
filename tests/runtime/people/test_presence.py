"""Presence: every viewer is sent the latest state of all participants, without a queue for viewers that do not read."""

import asyncio
from typing import Any

import pytest

from hawse.api.people import ParticipantEvent, ParticipantLeft, PointerPosition
from hawse.wire import HawseError, Principal
from hawse_runtime.people import presence
from hawse_runtime.people.presence import (
    NAME_MAX,
    PALETTE,
    PARTICIPANTS_LIMIT,
    READ_ONLY_LIMIT,
    Presence,
    PresenceCursor,
    clean,
)
from tests.support.runtime import Client, Served
from tests.support.waiting import TIMEOUT


class Room:
    def __init__(self) -> None:
        self.notifications = 0
        self.removed: list[str] = []
        self.changed = asyncio.Event()
        self.presence = Presence(self.notify, lambda participant: self.removed.append(participant.id))

    def notify(self) -> None:
        self.notifications += 1
        self.changed.set()

    async def until_notified(self) -> None:
        self.changed.clear()
        async with asyncio.timeout(TIMEOUT):
            await self.changed.wait()

    def events(self, cursor: PresenceCursor) -> list[tuple[str, Any]]:
        found = []
        while event := self.presence.next_event(cursor):
            found.append(event)
        return found


@pytest.fixture
async def room() -> Room:
    return Room()


async def test_each_participant_gets_its_own_name_and_colour(room: Room) -> None:
    joined = [room.presence.join(object(), kind="agent" if n == 1 else None) for n in range(len(PALETTE))]
    assert {participant.color for participant in joined} == set(PALETTE)
    assert [participant.name for participant in joined[:3]] == ["guest-1", "agent-2", "guest-3"]
    assert room.presence.join(object()).color == PALETTE[0]  # all are in use: the least used


async def test_a_requested_colour_is_assigned_if_it_is_in_the_palette_and_unused(room: Room) -> None:
    ada = room.presence.join(object(), color=PALETTE[4])
    bob = room.presence.join(object(), color=PALETTE[4])
    eve = room.presence.join(object(), color="url(evil)")
    assert ada.color == PALETTE[4]
    assert {bob.color, eve.color} < set(PALETTE) - {PALETTE[4]}


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("  Ada\tLovelace \n", "Ada Lovelace"),
        ("\x1b[31mred\x07", "[31mred"),
        ("a\u202eb\u200bc\u2066", "abc"),
        ("\U0001f600 \u6f22", "\U0001f600 \u6f22"),
        ("x" * 1000, "x" * NAME_MAX),
        ("\x00\u200d", ""),
        ("\ud800a", "a"),
    ],
)
def test_a_name_is_reduced_to_one_line_of_printable_characters(given: str, shown: str) -> None:
    assert clean(given) == shown


async def test_a_name_that_is_empty_after_cleaning_is_ignored(room: Room) -> None:
    ada = room.presence.join(object(), name="Ada")
    room.presence.rename(ada, "\x00", None)
    assert ada.name == "Ada"


async def test_changes_within_an_interval_are_sent_once_with_the_latest_state(room: Room) -> None:
    cursor = PresenceCursor()
    assert room.presence.describe(cursor) == []
    ada = room.presence.join(object(), name="Ada")
    ((name, value),) = room.events(cursor)
    assert (name, value.viewer.name) == ("joined", "Ada")
    for x in range(500):
        room.presence.set_pointer(ada, PointerPosition(x=x, y=0))
    bob = room.presence.join(object())
    await room.until_notified()
    assert room.notifications == 2
    assert room.events(cursor) == [
        ("presence", ParticipantEvent(viewer=ada.describe())),
        ("joined", ParticipantEvent(viewer=bob.describe())),
    ]
    assert ada.describe().at == PointerPosition(x=499, y=0)
    assert bob.describe().at is None


async def test_a_participant_that_joins_and_leaves_between_two_reads_causes_no_event(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "REJOIN_TIMEOUT", 0.0)
    cursor = PresenceCursor()
    ada = room.presence.join(ada_viewer := object())
    room.events(cursor)
    for _ in range(50):
        viewer = object()
        room.presence.leave(room.presence.join(viewer), viewer)
    room.presence.leave(ada, ada_viewer)
    async with asyncio.timeout(TIMEOUT):
        while len(room.removed) < 51:
            await room.until_notified()
    if not (events := room.events(cursor)):
        await room.until_notified()
        events = room.events(cursor)
    assert events == [("left", ParticipantLeft(id=ada.id))]
    assert cursor.versions == {}


async def test_a_participant_whose_link_was_lost_stays_for_longer_than_one_that_left(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "REJOIN_TIMEOUT", 0.0)
    monkeypatch.setattr(presence, "RESTART_TIMEOUT", 3600.0)
    viewer = object()
    lost, left = room.presence.join(viewer, key="lost"), room.presence.join(viewer, key="left")
    room.presence.leave(lost, viewer, link_lost=True)
    room.presence.leave(left, viewer)
    async with asyncio.timeout(TIMEOUT):
        while not room.removed:
            await room.until_notified()
    assert room.removed == [left.id]
    assert room.presence.join(viewer, key="lost") is lost


async def test_a_participant_that_reconnects_in_time_is_not_removed(room: Room) -> None:
    first, second = object(), object()
    ada = room.presence.join(first, key="k", name="Ada")
    room.presence.leave(ada, first)
    assert ada.leaving is not None
    assert room.presence.join(second, key="k", read_only=True) is ada
    assert ada.leaving is None
    assert ada.read_only
    assert room.presence.join(first, key="k") is ada  # two viewers: it can type in one of them
    assert not ada.read_only
    room.presence.leave(ada, first)
    assert ada.leaving is None
    assert ada.read_only
    room.presence.close()


async def test_what_else_a_participant_looks_at_is_for_those_who_may_see_the_sandbox(room: Room) -> None:
    whole, limited = PresenceCursor(), PresenceCursor(whole=False)
    ada = room.presence.join(object())
    room.presence.set_view(ada, 12, "editor~path~plan.md")
    await room.until_notified()
    room.presence.set_view(ada, None, None)
    for cursor, view in ((whole, "editor~path~plan.md"), (limited, "")):
        ((name, value),) = room.events(cursor)
        assert (name, value.viewer.scroll, value.viewer.view) == ("joined", 12, view)
        assert [each.view for each in room.presence.describe(cursor)] == [view]


async def test_typing_ends_after_a_timeout(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "TYPING_TIMEOUT", 0.02)
    ada = room.presence.join(object())
    for _ in range(3):
        room.presence.mark_typing(ada)
    assert ada.typing
    async with asyncio.timeout(TIMEOUT):
        while ada.typing:
            await room.until_notified()
    assert ada.timer is None


async def test_the_number_of_participants_is_limited_and_one_without_viewers_makes_room(room: Room) -> None:
    viewer = object()
    first = room.presence.join(viewer)
    for _ in range(PARTICIPANTS_LIMIT - 1):
        room.presence.join(object())
    with pytest.raises(HawseError, match="limit_exceeded"):
        room.presence.join(object())
    room.presence.leave(first, viewer)
    room.presence.join(object())
    assert room.removed == [first.id]
    room.presence.close()


async def test_read_only_viewers_leave_room_for_viewers_that_may_write(room: Room) -> None:
    for _ in range(READ_ONLY_LIMIT):
        room.presence.join(object(), read_only=True)
    with pytest.raises(HawseError, match=f"limit reached: {READ_ONLY_LIMIT} read-only viewers"):
        room.presence.join(object(), read_only=True)
    for _ in range(PARTICIPANTS_LIMIT - READ_ONLY_LIMIT):
        room.presence.join(object())
    room.presence.close()


# ---- on the wire


async def test_joining_typing_and_leaving_are_sent_to_the_other_viewers(client: Client) -> None:
    await client.ask("terminal.create", id="t", argv=["cat"])
    ada = client.attach("t", input="a", viewer={"key": "secret-a", "name": "Ada"})
    opened = await ada.event("opened")
    assert (opened["viewer"], opened["viewers"], [p["name"] for p in opened["presence"]]) == ("v1", 1, ["Ada"])
    bob = client.attach("t", input="b", viewer={"key": "secret-b", "name": "Bob", "kind": "agent"})
    opened = await bob.event("opened")
    assert [(p["id"], p["name"], p["kind"]) for p in opened["presence"]] == [
        ("v1", "Ada", "person"),
        ("v2", "Bob", "agent"),
    ]
    assert (await ada.event("joined"))["viewer"]["name"] == "Bob"
    bob.send(b"x")
    assert (await ada.event("presence"))["viewer"] | {"typing": True} == (await ada.event("presence"))["viewer"]
    await client.ask("terminal.presence", id="t", viewer="secret-b", name="Rob", at={"x": 3, "y": 4})
    await ada.until(lambda: any(e.name == "presence" and e.value["viewer"]["name"] == "Rob" for e in ada.events))
    bob.cancel()
    assert await ada.event("left") == {"id": "v2"}
    assert all("secret" not in str(event.value) for event in ada.events)


async def test_a_client_that_sends_no_profile_gets_default_values(client: Client) -> None:
    channel = await client.terminal("exec cat")
    (me,) = (await channel.event("opened"))["presence"]
    assert (me["name"], me["kind"], me["read_only"]) == ("guest-1", "person", False)


@pytest.mark.parametrize(
    "params", [{"at": {"x": -1, "y": 0}}, {"at": {"x": 0, "y": 1000}}, {"name": "x" * 257}, {"focus": "yes"}]
)
async def test_invalid_parameters_are_refused(client: Client, params: dict[str, Any]) -> None:
    await client.ask("terminal.create", id="t", argv=["cat"])
    await client.attach("t", viewer={"key": "k"}).event("opened")
    error = await client.refused("terminal.presence", {"id": "t", "viewer": "k"} | params)
    assert error.code == "invalid_params"


async def test_99_stalled_viewers_of_100_cost_bounded_memory_and_events(served: Served, client: Client) -> None:
    await client.ask("terminal.create", id="t", argv=["cat"])
    reading = client.attach("t", input="i", viewer={"key": "reader"})
    await reading.event("opened")
    slow = await served.client(window=1)
    stalled = [slow.attach("t", generous=False, viewer={"key": f"k{n}"}) for n in range(99)]
    for channel in stalled:
        await channel.event("opened")
    before = (await client.info())["memory"]
    for n in range(2000):
        await client.ask("terminal.presence", id="t", viewer=f"k{n % 99}", at={"x": n % 999, "y": 1}, name=f"n{n}")
    await reading.until(
        lambda: any(e.name == "presence" and e.value["viewer"]["name"] == "n1999" for e in reading.events)
    )
    assert (await client.info())["memory"] - before < 16 << 20
    assert all(len(channel.events) == 1 for channel in stalled)
    assert [link.connection.pending for link in served.runtime.server.links] == [0, 0]
    stalled[0].grant(1 << 20)
    await stalled[0].until(lambda: len(stalled[0].events) > 100)
    assert (
        len(stalled[0].events) < 300
    )  # about one for each other participant instead of one for each of the 2,000 changes
    await slow.cut()


@pytest.mark.parametrize(
    ("kind", "name", "shown", "guest"),
    [
        ("user", "Ada Lovelace", "Ada Lovelace", False),
        ("user", "", "ada", False),
        ("owner", "owner", "Eve", False),
        ("guest", "Bob", "Bob", True),
        ("guest", "", "Eve", True),
    ],
)
async def test_a_name_is_that_of_the_identity_or_of_a_guest(
    room: Room, kind: str, name: str, shown: str, guest: bool
) -> None:
    caller = Principal(id="ada", name=name, kind=kind, rights=("view",))
    joined = room.presence.join(object(), name="Eve", caller=caller)
    room.presence.rename(joined, "Eve", None)
    assert (joined.describe().name, joined.describe().guest) == (shown, guest)
