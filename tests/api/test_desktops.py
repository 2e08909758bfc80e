"""The parameters of `desktop.*`, and the rights they require."""

import msgspec
import pytest

from hawse.api import METHODS
from hawse.api.desktops import (
    DESKTOP,
    DesktopClick,
    DesktopDrag,
    DesktopKey,
    DesktopScroll,
    DesktopStart,
    DesktopType,
    Region,
)
from hawse.api.rights import OPERATE, VIEW, WRITE


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (DesktopStart, '{"width": 63}'),
        (DesktopStart, '{"height": 4097}'),
        (DesktopStart, '{"dpi": 0}'),
        (DesktopStart, '{"id": "../x"}'),
        (DesktopDrag, '{"path": [{"x": 1, "y": 1}]}'),
        (DesktopScroll, '{"x": 1, "y": 1, "dy": 101}'),
        (DesktopKey, '{"keys": ""}'),
        (DesktopKey, '{"keys": "a", "count": 101}'),
    ],
)
def test_values_out_of_bounds_are_refused(type_: type, text: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(text, type=type_)


def test_a_text_that_is_typed_is_bounded() -> None:
    assert len(msgspec.convert({"text": "x" * 10_000}, DesktopType).text) == 10_000
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"text": "x" * 10_001}, DesktopType)


def test_watching_and_input_need_the_rights_that_they_need_at_terminals() -> None:
    required = {name: spec.requires for name, spec in METHODS.items() if name.startswith("desktop.")}
    assert {name for name, right in required.items() if right == VIEW} == {
        *("desktop.attach", "desktop.list", "desktop.screenshot", "desktop.windows")
    }
    assert {name for name, right in required.items() if right == OPERATE} == {
        *("desktop.launch", "desktop.start", "desktop.stop")
    }
    assert set(required.values()) == {VIEW, WRITE, OPERATE}


@pytest.mark.parametrize("text", ['{"x": -1, "y": 0}', '{"x": 0, "y": 4096}', '{"x": 1.5, "y": 0}', '{"x": 1}'])
def test_a_position_is_a_pixel_that_a_desktop_can_have(text: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(text, type=DesktopClick)


def test_a_region_has_a_size() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode('{"x": 0, "y": 0, "width": 0, "height": 1}', type=Region)


def test_input_goes_to_the_desktop_main_unless_it_names_one() -> None:
    assert msgspec.json.decode('{"x": 1, "y": 2}', type=DesktopClick).id == DESKTOP
