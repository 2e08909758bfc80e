"""Bounds of what a desktop is asked for."""

import msgspec
import pytest

from hawse.api.desktop_values import DESKTOP, Region
from hawse.api.desktops import DesktopClick


@pytest.mark.parametrize("text", ['{"x": -1, "y": 0}', '{"x": 0, "y": 4096}', '{"x": 1.5, "y": 0}', '{"x": 1}'])
def test_a_position_is_a_pixel_that_a_desktop_can_have(text: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(text, type=DesktopClick)


def test_a_region_has_a_size() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode('{"x": 0, "y": 0, "width": 0, "height": 1}', type=Region)


def test_input_goes_to_the_desktop_main_unless_it_names_one() -> None:
    assert msgspec.json.decode('{"x": 1, "y": 2}', type=DesktopClick).id == DESKTOP
