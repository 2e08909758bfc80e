"""The requests that wait for the screen of a terminal."""

import pytest

from hawse_runtime.journal.journal import Journal
from hawse_runtime.screen.requests import Answer, Paint, Text
from hawse_runtime.screen.screen_requests import ScreenRequest, ScreenRequests
from hawse_runtime.screen.size_history import OutputPlace
from hawse_runtime.screen.snapshot_cache import CachedSnapshot

PLACE = OutputPlace(12, 80, 24, 1)


@pytest.fixture
def requests() -> ScreenRequests:
    journal = Journal()
    journal.append(b"\x1b[1mone\r\ntwo")
    return ScreenRequests(journal)


def test_requests_are_answered_in_order(requests: ScreenRequests) -> None:
    order: list[str] = []
    requests.add(ScreenRequest(PLACE, Text, lambda answer: order.append("first")))
    requests.add(ScreenRequest(PLACE, Text, lambda answer: order.append("second" if answer is None else "?")))
    assert requests.first is not None
    assert requests.first.make(7) == Text(7)
    assert not requests.answer_first_if_known()
    requests.answer_first(Answer())
    requests.give_up()
    assert order == ["first", "second"]
    assert requests.first is None


def test_a_snapshot_is_shared_while_it_is_in_use(requests: ScreenRequests) -> None:
    made: list[CachedSnapshot] = []
    for _ in range(2):
        requests.add_snapshot(PLACE, 100, made.append)
    assert requests.first is not None
    assert requests.first.make(1) == Paint(1, 100)
    requests.answer_first(Answer(b"painted"))
    assert requests.answer_first_if_known()
    requests.add_snapshot(PLACE, 100, made.append)
    assert [snapshot.data for snapshot in made] == [b"painted"] * 3
    assert len({id(snapshot) for snapshot in made}) == 1
    made.clear()
    requests.add_snapshot(PLACE, 100, made.append)
    assert requests.first is not None, "it is not in use any more"


def test_a_snapshot_that_cannot_be_painted_is_plain_text(requests: ScreenRequests) -> None:
    made: list[CachedSnapshot] = []
    requests.add_snapshot(PLACE, 100, made.append)
    requests.give_up()
    assert (made[0].data, made[0].offset) == (b"one\r\ntwo", 12)
    assert requests.plain(PLACE._replace(rows=1), 0) == b"two"
