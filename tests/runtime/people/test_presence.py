"""Who is there: told to everybody, once, as it is now; and never a queue for who does not read."""

import asyncio
from typing import Any

import pytest

from hawse.wire import HawseError
from runtime.people import presence
from runtime.people.presence import (
    NAME_MAX,
    PALETTE,
    PARTICIPANTS_LIMIT,
    READ_ONLY_LIMIT,
    PointerCell,
    Presence,
    PresenceChange,
    clean,
)
from tests.support.runtime import Client, Served


class Room:
    def __init__(self) -> None:
        self.told = 0
        self.gone: list[str] = []
        self.changed = asyncio.Event()
        self.presence = Presence(self.tell, lambda participant: self.gone.append(participant.id))

    def tell(self) -> None:
        self.told += 1
        self.changed.set()

    async def until_told(self) -> None:
        self.changed.clear()
        async with asyncio.timeout(5):
            await self.changed.wait()

    def next_event(self, told: PresenceChange) -> list[tuple[str, Any]]:
        found = []
        while news := self.presence.next_event(told):
            found.append(news)
        return found


@pytest.fixture
async def room() -> Room:
    return Room()


async def test_everybody_gets_a_name_and_a_colour_that_nobody_else_has(room: Room) -> None:
    people = [room.presence.join(object(), kind="agent" if n == 1 else None) for n in range(len(PALETTE))]
    assert {participant.color for participant in people} == set(PALETTE)
    assert [participant.name for participant in people[:3]] == ["guest-1", "agent-2", "guest-3"]
    assert room.presence.join(object()).color == PALETTE[0]  # all are in use: the least used


async def test_a_colour_is_had_as_wished_unless_it_is_another_s_or_none_of_ours(room: Room) -> None:
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
def test_a_name_can_be_shown_anywhere(given: str, shown: str) -> None:
    assert clean(given) == shown


async def test_a_name_of_nothing_leaves_the_one_before(room: Room) -> None:
    ada = room.presence.join(object(), name="Ada")
    room.presence.rename(ada, "\x00", None)
    assert ada.name == "Ada"


async def test_what_changed_meanwhile_is_told_once_and_as_it_is_now(room: Room) -> None:
    told = PresenceChange()
    assert room.presence.describe(told) == []
    ada = room.presence.join(object(), name="Ada")
    ((name, value),) = room.next_event(told)
    assert (name, value["viewer"]["name"]) == ("joined", "Ada")
    for x in range(500):
        room.presence.point(ada, PointerCell(x, 0))
    bob = room.presence.join(object())
    await room.until_told()
    assert room.told == 2
    assert [(name, value["viewer"]["id"], value["viewer"]["at"]) for name, value in room.next_event(told)] == [
        ("presence", ada.id, {"x": 499, "y": 0}),
        ("joined", bob.id, None),
    ]


async def test_who_came_and_went_while_one_did_not_read_was_never_there(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "LINGER", 0.0)
    told = PresenceChange()
    ada = room.presence.join(ada_line := object())
    room.next_event(told)
    for _ in range(50):
        line = object()
        room.presence.part(room.presence.join(line), line)
    room.presence.part(ada, ada_line)
    async with asyncio.timeout(5):
        while len(room.gone) < 51:
            await room.until_told()
    if not (news := room.next_event(told)):
        await room.until_told()
        news = room.next_event(told)
    assert news == [("left", {"id": ada.id})]
    assert told.versions == {}


async def test_who_comes_back_by_another_line_has_never_left(room: Room) -> None:
    first, second = object(), object()
    ada = room.presence.join(first, key="k", name="Ada")
    room.presence.part(ada, first)
    assert ada.leaving is not None
    assert room.presence.join(second, key="k", read_only=True) is ada
    assert ada.leaving is None
    assert ada.read_only
    assert room.presence.join(first, key="k") is ada  # by two lines: it can type by one of them
    assert not ada.read_only
    room.presence.part(ada, first)
    assert ada.leaving is None
    assert ada.read_only
    room.presence.close()


async def test_typing_ends_by_itself(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "TYPING", 0.02)
    ada = room.presence.join(object())
    for _ in range(3):
        room.presence.typed(ada)
    assert ada.typing
    async with asyncio.timeout(5):
        while ada.typing:
            await room.until_told()
    assert ada.timer is None


async def test_there_is_room_for_so_many_and_those_who_are_leaving_make_it(room: Room) -> None:
    line = object()
    first = room.presence.join(line)
    for _ in range(PARTICIPANTS_LIMIT - 1):
        room.presence.join(object())
    with pytest.raises(HawseError, match="limit_exceeded"):
        room.presence.join(object())
    room.presence.part(first, line)
    room.presence.join(object())
    assert room.gone == [first.id]
    room.presence.close()


async def test_read_only_viewers_leave_room_for_those_who_may_write(room: Room) -> None:
    for _ in range(READ_ONLY_LIMIT):
        room.presence.join(object(), read_only=True)
    with pytest.raises(HawseError, match=f"limit_exceeded: {READ_ONLY_LIMIT} read-only viewers"):
        room.presence.join(object(), read_only=True)
    for _ in range(PARTICIPANTS_LIMIT - READ_ONLY_LIMIT):
        room.presence.join(object())
    room.presence.close()


# ---- on the wire


async def test_joining_typing_and_leaving_are_told_to_the_others(client: Client) -> None:
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


async def test_an_old_client_is_there_too_without_a_word_of_its_own(client: Client) -> None:
    channel = await client.terminal("exec cat")
    (me,) = (await channel.event("opened"))["presence"]
    assert (me["name"], me["kind"], me["read_only"]) == ("guest-1", "person", False)


@pytest.mark.parametrize(
    "params", [{"at": {"x": -1, "y": 0}}, {"at": {"x": 0, "y": 1000}}, {"name": "x" * 257}, {"focus": "yes"}]
)
async def test_nonsense_is_refused(client: Client, params: dict[str, Any]) -> None:
    await client.ask("terminal.create", id="t", argv=["cat"])
    await client.attach("t", viewer={"key": "k"}).event("opened")
    error = await client.refused("terminal.presence", {"id": "t", "viewer": "k"} | params)
    assert error.code == "invalid_params"


async def test_a_hundred_viewers_of_which_99_are_stalled_cost_little(served: Served, client: Client) -> None:
    await client.ask("terminal.create", id="t", argv=["cat"])
    reading = client.attach("t", input="i", viewer={"key": "reader"})
    await reading.event("opened")
    deaf = await served.client(window=1)
    stalled = [deaf.attach("t", generous=False, viewer={"key": f"k{n}"}) for n in range(99)]
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
    assert [link.connection.pending for link in served.runtime.server._calls] == [0, 0]
    stalled[0].grant(1 << 20)
    await stalled[0].until(lambda: len(stalled[0].events) > 100)
    assert len(stalled[0].events) < 300  # each of the others once or so, and not 2,000 times
    await deaf.cut()
