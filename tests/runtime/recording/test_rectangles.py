import os

from hawse_runtime.desktop.rfb import Rect, ScreenSize
from hawse_runtime.recording.rectangles import BAND, EVENT, Patch, bands, encode
from tests.support.rectangles import rectangles


def test_rectangles_are_encoded_without_the_fourth_byte() -> None:
    two = [Patch(Rect(1, 2, 2, 1), b"abc\0def\0"), Patch(Rect(300, 0, 1, 2), bytearray(b"ABC\0DEF\0"))]
    [line] = encode(two)
    assert line.endswith("\n")
    assert rectangles(line) == [(Rect(1, 2, 2, 1), b"abcdef"), (Rect(300, 0, 1, 2), b"ABCDEF")]
    assert encode([]) == []


def test_a_screen_is_divided_into_bands_that_cover_it() -> None:
    size = ScreenSize(1000, 301)
    pixels = bytearray(os.urandom(4 * 1000 * 301))
    parts = bands(size, pixels)
    assert all(len(part.pixels) <= BAND for part in parts)
    assert b"".join(bytes(part.pixels) for part in parts) == pixels
    assert [part.rect.y for part in parts] == sorted({part.rect.y for part in parts})
    assert sum(part.rect.height for part in parts) == 301
    lines = encode(parts)
    assert len(lines) > 1
    assert all(len(line) <= 2 * (EVENT + BAND) for line in lines)
    assert [rect for line in lines for rect, _ in rectangles(line)] == [part.rect for part in parts]


def test_a_row_that_is_larger_than_a_band_is_one_band() -> None:
    size = ScreenSize(BAND // 2, 2)
    assert [part.rect.height for part in bands(size, bytearray(4 * size.width * 2))] == [1, 1]
