"""The size policy: the viewer used last decides, and the rate of changes is limited."""

import asyncio
from itertools import pairwise

import pytest

from hawse_runtime.people import size_policy
from hawse_runtime.people.presence import ViewerPresence
from hawse_runtime.people.size_policy import SETTLE, SWITCH, SizePolicy
from tests.support.runtime import Client
from tests.support.waiting import TIMEOUT

BIG, SMALL, OTHER = (120, 40), (80, 24), (60, 20)


class Screen:
    """Records the size of a terminal, each change with its time."""

    def __init__(self) -> None:
        self.size = (100, 30)
        self.changes: list[tuple[float, tuple[int, int]]] = []
        self.changed = asyncio.Event()
        self.policy = SizePolicy(lambda: self.size, self.apply)

    def apply(self, cols: int, rows: int) -> None:
        self.size = (cols, rows)
        self.changes.append((asyncio.get_running_loop().time(), self.size))
        self.changed.set()

    async def until(self, size: tuple[int, int]) -> None:
        async with asyncio.timeout(TIMEOUT):
            while self.size != size:
                self.changed.clear()
                await self.changed.wait()

    def check_gaps(self, least: float) -> None:
        """Check that there were several changes, and from each to the next at least so many seconds."""
        times = [time for time, _ in self.changes]
        assert len(times) > 1
        assert all(later - earlier >= least * 0.99 for earlier, later in pairwise(times))


def participant(name: str) -> ViewerPresence:
    return ViewerPresence(name, name, name, "#000", "person")


ADA, BOB = participant("ada"), participant("bob")


@pytest.fixture
async def screen() -> Screen:
    return Screen()


async def test_the_first_participant_with_a_size_decides_until_another_is_active(screen: Screen) -> None:
    screen.policy.set_fit(ADA, BIG)
    assert screen.size == BIG
    screen.policy.set_fit(BOB, SMALL)
    assert (screen.size, screen.policy.decider) == (BIG, ADA)
    screen.policy.mark_active(BOB)
    assert screen.policy.decider is BOB
    await screen.until(SMALL)


async def test_another_participant_takes_effect_at_once_when_the_switch_delay_has_passed(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(size_policy, "SWITCH", 0.0)
    screen.policy.set_fit(ADA, BIG)
    screen.policy.set_fit(BOB, SMALL)
    screen.policy.mark_active(BOB)
    assert screen.size == SMALL


async def test_two_participants_that_type_in_turns_change_the_size_at_most_once_per_second(screen: Screen) -> None:
    screen.policy.set_fit(ADA, BIG)
    screen.policy.set_fit(BOB, SMALL)
    for _ in range(1000):
        screen.policy.mark_active(ADA)
        screen.policy.mark_active(BOB)
    await screen.until(SMALL)
    screen.check_gaps(SWITCH)


async def test_dragging_a_window_changes_the_size_rarely_and_ends_at_the_last_one(screen: Screen) -> None:
    for rows in range(10, 40):
        screen.policy.set_fit(ADA, (100, rows))
    await screen.until((100, 39))
    screen.check_gaps(SETTLE)


async def test_when_the_decider_leaves_the_participant_active_before_it_decides(screen: Screen) -> None:
    for each, size in ((ADA, BIG), (BOB, SMALL), (participant("eve"), OTHER)):
        screen.policy.set_fit(each, size)
    screen.policy.mark_active(ADA)
    screen.policy.mark_active(BOB)
    screen.policy.remove(BOB)
    assert screen.policy.decider is ADA
    screen.policy.remove(ADA)
    await screen.until(OTHER)
    screen.policy.remove(ADA)
    screen.policy.close()


async def test_a_participant_without_a_size_does_not_decide(screen: Screen) -> None:
    screen.policy.mark_active(ADA)
    assert screen.policy.decider is None
    assert screen.changes == []


# ---- on the wire


async def test_the_size_follows_the_viewer_that_types_and_ignores_read_only_viewers(client: Client) -> None:
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


async def test_reports_of_an_emulator_do_not_count_as_typing(client: Client) -> None:
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


async def test_a_resize_without_a_viewer_takes_effect(client: Client) -> None:
    channel = await client.terminal("exec cat")
    assert await client.ask("terminal.resize", id="t", cols=132, rows=43) == {"cols": 132, "rows": 43}
    assert (await channel.event("resized"))["cols"] == 132
