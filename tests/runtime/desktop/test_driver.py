"""The mouse and keyboard events of each action of an agent."""

from typing import Any, cast

import pytest

from hawse.api.desktops import Point
from hawse.wire import HawseError
from hawse_runtime.desktop import driver
from hawse_runtime.desktop.rfb_client import RfbClient


class Recorder:
    """Takes events in place of an X server."""

    def __init__(self) -> None:
        self.events: list[Any] = []

    def key(self, keysym: int, *, down: bool) -> None:
        self.events.append((chr(keysym), down))

    def pointer(self, x: int, y: int, buttons: int) -> None:
        self.events.append((x, y, buttons))

    async def drain(self) -> None:
        self.events.append("drained")


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def client(recorder: Recorder) -> RfbClient:
    return cast(RfbClient, recorder)


async def test_a_double_click_with_a_key_held(recorder: Recorder, client: RfbClient) -> None:
    await driver.click(client, Point(x=1, y=2), "right", 2, [ord("c")])
    press = [(1, 2, 4), (1, 2, 0)]
    assert recorder.events == [(1, 2, 0), ("c", True), *press, *press, ("c", False), "drained"]


async def test_a_drag_presses_first_and_releases_last(recorder: Recorder, client: RfbClient) -> None:
    await driver.drag(client, [Point(x=1, y=1), Point(x=9, y=5)], "left")
    assert recorder.events == [(1, 1, 0), (1, 1, 1), (9, 5, 1), (9, 5, 0), "drained"]


async def test_the_wheel_turns_in_both_directions(recorder: Recorder, client: RfbClient) -> None:
    await driver.scroll(client, Point(x=1, y=1), -1, 2)
    assert [event[2] for event in recorder.events[:-1]] == [0, 16, 0, 16, 0, 32, 0]


async def test_a_text_that_cannot_be_typed_is_not_begun(recorder: Recorder, client: RfbClient) -> None:
    with pytest.raises(HawseError):
        await driver.type_text(client, "ok\x1b")
    assert recorder.events == []
    await driver.type_text(client, "ab")
    assert recorder.events == [("a", True), ("a", False), ("b", True), ("b", False), "drained"]


async def test_a_long_text_is_typed_in_portions(recorder: Recorder, client: RfbClient) -> None:
    await driver.type_text(client, "x" * (2 * driver.PORTION + 1))
    assert recorder.events.count("drained") == 3


async def test_keys_are_released_in_the_other_order(recorder: Recorder, client: RfbClient) -> None:
    await driver.press(client, [ord("a"), ord("b")], 1)
    assert recorder.events == [("a", True), ("b", True), ("b", False), ("a", False), "drained"]


async def test_the_pointer_is_moved_without_buttons(recorder: Recorder, client: RfbClient) -> None:
    await driver.move(client, 3, 4)
    assert recorder.events == [(3, 4, 0), "drained"]
