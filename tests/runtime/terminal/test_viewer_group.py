"""Which of the viewers of a terminal answers queries, and which queries the screen answers instead."""

from dataclasses import dataclass
from typing import Any

import pytest

from hawse.api.people import TerminalLease, ViewerProfile
from hawse_runtime.journal.journal import Journal
from hawse_runtime.people.participants import Participants
from hawse_runtime.people.presence import ViewerPresence
from hawse_runtime.screen.screen_tracker import ScreenTracker
from hawse_runtime.screen.size_history import SizeHistory
from hawse_runtime.terminal.viewer_group import ViewerGroup
from tests.support.local_screens import LocalScreens

QUERY = b"\x1b[c"  # DA1


@dataclass(eq=False)
class FakeViewer:
    """Counts what the group calls."""

    participant: ViewerPresence
    cursor: int | None = 0
    emulator: bool = True
    input_id: str | None = "input"
    woken: int = 0
    skipped: int = 0

    def wake(self) -> None:
        self.woken += 1

    def skip_backlog(self) -> None:
        self.skipped += 1


class Rig:
    """A group beside a journal and the participants of a terminal."""

    def __init__(self) -> None:
        self.journal = Journal()
        self.replies: list[bytes] = []
        sizes = SizeHistory(80, 24)
        self.tracker = ScreenTracker(self.journal, sizes, LocalScreens(), reply=self.replies.append)
        self.participants = Participants(
            sizes.latest_size, lambda cols, rows: None, lambda: None, self._writers_changed
        )
        self.group: ViewerGroup[FakeViewer] = ViewerGroup(self.participants, self.tracker)

    def _writers_changed(self) -> None:
        self.group.writers_changed()

    def attach(self, key: str, **attributes: Any) -> FakeViewer:
        participant = self.participants.join(key, ViewerProfile(key=key), read_only=False, fit=None)
        viewer = FakeViewer(participant, **attributes)
        self.group.add(viewer)
        return viewer


@pytest.fixture
async def rig() -> Rig:
    return Rig()


async def test_the_first_viewer_with_an_emulator_and_input_answers(rig: Rig) -> None:
    rig.attach("text", emulator=False)
    rig.attach("watching", input_id=None)
    first, second = rig.attach("first"), rig.attach("second")
    assert rig.group.answerer is first
    assert (first.woken, second.woken) == (1, 0)
    rig.group.remove(first)
    assert rig.group.answerer is second
    assert second.woken == 1
    rig.group.remove(second)
    assert rig.group.answerer is None


async def test_viewers_are_iterated_in_the_order_of_attachment(rig: Rig) -> None:
    viewers = [rig.attach(str(number)) for number in range(3)]
    assert list(rig.group) == viewers
    assert len(rig.group) == 3


async def test_removing_a_viewer_twice_does_nothing_the_second_time(rig: Rig) -> None:
    viewer = rig.attach("v")
    rig.group.remove(viewer)
    rig.group.remove(viewer)
    assert len(rig.group) == 0


async def test_the_screen_answers_queries_from_before_a_viewer_attached(rig: Rig) -> None:
    rig.journal.append(QUERY)
    rig.attach("v")
    assert len(rig.replies) == 1


async def test_the_screen_answers_what_the_answering_viewer_was_not_sent(rig: Rig) -> None:
    viewer = rig.attach("v")
    rig.journal.append(QUERY * 2)
    viewer.cursor = len(QUERY)
    rig.group.remove(viewer)
    assert len(rig.replies) == 1, "the first one was answered by the viewer"
    assert rig.tracker.fed == rig.journal.end


async def test_the_viewer_that_holds_the_lease_answers(rig: Rig) -> None:
    first, second = rig.attach("first"), rig.attach("second")
    rig.participants.set_lease(TerminalLease(id="t", action="take", viewer="second"))
    assert rig.group.answerer is second
    rig.participants.set_lease(TerminalLease(id="t", action="release", viewer="second"))
    assert rig.group.answerer is first


async def test_skip_backlog_reaches_every_viewer(rig: Rig) -> None:
    viewers = [rig.attach(str(number)) for number in range(3)]
    rig.group.skip_backlog()
    assert [viewer.skipped for viewer in viewers] == [1, 1, 1]
