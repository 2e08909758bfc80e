"""The messages of RFB that are sent, byte by byte, and the text of a clipboard."""

import struct
import zlib

import pytest

from hawse_runtime.desktop import rfb
from hawse_runtime.desktop.rfb import Rect, ScreenSize


def test_messages_have_the_form_of_the_specification() -> None:
    assert rfb.key_event(0xFF0D, down=True) == bytes.fromhex("04 01 0000 0000ff0d")
    assert rfb.pointer_event(258, 3, 5) == bytes.fromhex("05 05 0102 0003")
    assert rfb.update_request(Rect(1, 2, 3, 4), incremental=False) == bytes.fromhex("03 00 0001 0002 0003 0004")
    assert rfb.set_encodings([0, -223]) == bytes.fromhex("02 00 0002 00000000 ffffff21")
    assert len(rfb.set_pixel_format()) == 20
    assert len(rfb.set_desktop_size(ScreenSize(800, 600))) == 24


@pytest.mark.parametrize("text", ["", "plain", "two\nlines", "ü 世 🙂", "x" * 100_000])
def test_a_text_survives_the_clipboard(text: str) -> None:
    message = rfb.provide_text(text)
    kind, length, flags = struct.unpack(">B3xiI", message[:12])
    assert (kind, -length, flags) == (6, len(message) - 8, rfb.PROVIDE | rfb.TEXT)
    assert rfb.provided_text(message[12:]) == text


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not zlib",
        zlib.compress(b""),
        zlib.compress(struct.pack(">I", 10) + b"short"),
        zlib.compress(struct.pack(">I", 100 << 20) + bytes(100 << 20)),
    ],
)
def test_a_clipboard_that_is_broken_or_expands_too_much_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="clipboard"):
        rfb.provided_text(data)


def test_a_rectangle_is_cut_at_the_edges_of_a_screen() -> None:
    size = ScreenSize(100, 50)
    assert Rect(90, 40, 20, 20).within(size) == Rect(90, 40, 10, 10)
    assert Rect(100, 0, 1, 1).within(size) is None
    assert Rect(0, 0, 10, 10).contains(Rect(9, 9, 1, 1))
    assert not Rect(0, 0, 10, 10).contains(Rect(9, 9, 2, 1))
