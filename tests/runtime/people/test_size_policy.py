"""The viewer in use decides, and two of them cannot make the size flap."""

import asyncio

import pytest

from runtime.people import size_policy as sizing
from runtime.people.presence import ViewerPresence
from runtime.people.size_policy import SETTLE, SWITCH, SizePolicy
from tests.support.runtime import Client

BIG, SMALL, OTHER = (120, 40), (80, 24), (60, 20)


class Screen:
    """A terminal's size, each change with its time."""

    def __init__(self) -> None:
        self.size = (100, 30)
        self.changes: list[tuple[float, tuple[int, int]]] = []
        self.changed = asyncio.Event()
        self.sizing = SizePolicy(lambda: self.size, self.apply)

    def apply(self, cols: int, rows: int) -> None:
        self.size = (cols, rows)
        self.changes.append((asyncio.get_running_loop().time(), self.size))
        self.changed.set()

    async def until(self, size: tuple[int, int]) -> None:
        async with asyncio.timeout(5):
            while self.size != size:
                self.changed.clear()
                await self.changed.wait()


def participant(name: str) -> ViewerPresence:
    return ViewerPresence(name, name, name, "#000", "person")


ADA, BOB = participant("ada"), participant("bob")


@pytest.fixture
async def screen() -> Screen:
    return Screen()


async def test_the_first_with_a_size_decides_until_another_is_in_use(screen: Screen) -> None:
    screen.sizing.fits(ADA, BIG)
    assert screen.size == BIG
    screen.sizing.fits(BOB, SMALL)
    assert (screen.size, screen.sizing.decider) == (BIG, ADA)
    screen.sizing.used(BOB)
    assert screen.sizing.decider is BOB
    await screen.until(SMALL)


async def test_after_a_while_of_one_another_s_key_takes_effect_at_once(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sizing, "SWITCH", 0.0)
    screen.sizing.fits(ADA, BIG)
    screen.sizing.fits(BOB, SMALL)
    screen.sizing.used(BOB)
    assert screen.size == SMALL


async def test_two_who_type_in_turns_change_it_once_a_second_at_most(screen: Screen) -> None:
    screen.sizing.fits(ADA, BIG)
    screen.sizing.fits(BOB, SMALL)
    for _ in range(1000):
        screen.sizing.used(ADA)
        screen.sizing.used(BOB)
    assert len(screen.changes) == 1
    await screen.until(SMALL)
    (first, _), (second, _) = screen.changes
    assert second - first >= SWITCH * 0.99


async def test_a_window_that_is_dragged_changes_it_seldom_and_ends_at_the_last_size(screen: Screen) -> None:
    for rows in range(10, 40):
        screen.sizing.fits(ADA, (100, rows))
    assert len(screen.changes) == 1
    await screen.until((100, 39))
    assert len(screen.changes) == 2
    assert screen.changes[1][0] - screen.changes[0][0] >= SETTLE * 0.99


async def test_when_who_decides_leaves_who_was_in_use_before_does(screen: Screen) -> None:
    for who, size in ((ADA, BIG), (BOB, SMALL), (participant("eve"), OTHER)):
        screen.sizing.fits(who, size)
    screen.sizing.used(ADA)
    screen.sizing.used(BOB)
    screen.sizing.left(BOB)
    assert screen.sizing.decider is ADA
    screen.sizing.left(ADA)
    await screen.until(OTHER)
    screen.sizing.left(ADA)
    screen.sizing.close()


async def test_who_has_no_size_decides_nothing(screen: Screen) -> None:
    screen.sizing.used(ADA)
    assert screen.sizing.decider is None
    assert screen.changes == []


# ---- on the wire


async def test_the_terminal_follows_who_types_and_nobody_who_only_looks(client: Client) -> None:
    await client.ask("terminal.create", id="t", argv=["cat"])
    ada = client.attach("t", input="a", viewer={"key": "a", "focus": True}, cols=120, rows=40)
    await ada.event("opened")
    bob = client.attach("t", input="b", viewer={"key": "b"}, cols=90, rows=30)
    await bob.event("opened")
    looking = client.attach("t", read_only=True, viewer={"key": "l", "focus": True}, cols=10, rows=10)
    await looking.event("opened")
    assert await client.ask("terminal.resize", id="t", cols=11, rows=11, viewer="l") == {"cols": 120, "rows": 40}
    bob.send(b"x")
    assert [(await ada.event("resized", n))["cols"] for n in (1, 2)] == [120, 90]  # the first is in the replay
    await client.ask("terminal.presence", id="t", viewer="a", focus=True)
    assert (await ada.event("resized", 3))["cols"] == 120


async def test_what_an_emulator_answers_is_no_use_and_no_typing(client: Client) -> None:
    await client.ask("terminal.create", id="t", argv=["cat"])
    ada = client.attach("t", input="a", viewer={"key": "a"}, cols=120, rows=40)
    await ada.event("opened")
    bob = client.attach("t", input="b", viewer={"key": "b"}, cols=90, rows=30)
    await bob.event("opened")
    for answer in (
        b"\x1b[12;5R",
        b"\x1b[?62;22c\x1b[>0;276;0c",
        b"\x1b[I",
        b"\x1b]11;rgb:0/0/0\x1b\\",
        b"\x1b[?2026;2$y",
    ):
        bob.send(answer)
    await bob.until(lambda: bob.granted == bob.sent)
    opened = await client.attach("t").event("opened")
    assert [p["typing"] for p in opened["presence"]] == [False, False, False]
    assert (await client.ask("terminal.get", id="t"))["cols"] == 120


async def test_a_resize_by_nobody_in_particular_takes_effect_as_ever(client: Client) -> None:
    channel = await client.terminal("exec cat")
    assert await client.ask("terminal.resize", id="t", cols=132, rows=43) == {"cols": 132, "rows": 43}
    assert (await channel.event("resized"))["cols"] == 132
