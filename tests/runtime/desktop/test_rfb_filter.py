"""Only complete, permitted messages of viewers are forwarded, and input only while it is allowed."""

import struct
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from hawse.wire import HawseError
from hawse_runtime.desktop import rfb
from hawse_runtime.desktop.rfb import Rect, ScreenSize
from hawse_runtime.desktop.rfb_filter import ENCODINGS, ViewerMessages

HANDSHAKE = rfb.VERSION + b"\x01" + b"\x00"
PASSED = rfb.VERSION + b"\x01" + b"\x01"  # always shared
DOWN, UP = rfb.key_event(0x61, down=True), rfb.key_event(0x61, down=False)
PRESS, RELEASE = rfb.pointer_event(5, 6, 1), rfb.pointer_event(7, 8, 0)
QEMU = struct.pack(">BBHII", 255, 0, 1, 0x61, 30)
CLIPBOARD = struct.pack(">B3xi", 6, 5) + b"hello"
INPUT = [DOWN, UP, PRESS, RELEASE, QEMU, CLIPBOARD, rfb.provide_text("text"), rfb.set_desktop_size(ScreenSize(9, 9))]
HARMLESS = [
    rfb.set_pixel_format(),
    rfb.update_request(Rect(0, 0, 9, 9), incremental=True),
    struct.pack(">BBHHHH", 150, 1, 0, 0, 9, 9),  # continuous updates
    struct.pack(">B3xIB", 248, 0, 3) + b"abc",  # a fence
]


class Viewer:
    def __init__(self, *, may_write: bool = True) -> None:
        self.may_write = may_write
        self.inputs = 0
        self.messages = ViewerMessages(lambda: self.may_write, self._input)
        assert self.messages.receive(HANDSHAKE) == PASSED

    def _input(self) -> None:
        self.inputs += 1


@pytest.mark.parametrize("message", [*INPUT, *HARMLESS])
def test_a_writer_sends_each_message(message: bytes) -> None:
    assert Viewer().messages.receive(message) == message


@pytest.mark.parametrize("message", INPUT)
def test_who_may_not_write_sends_no_input(message: bytes) -> None:
    viewer = Viewer(may_write=False)
    assert viewer.messages.receive(message) == b""
    assert viewer.inputs == 0


@pytest.mark.parametrize("message", HARMLESS)
def test_who_may_not_write_can_watch(message: bytes) -> None:
    assert Viewer(may_write=False).messages.receive(message) == message


@given(st.lists(st.sampled_from([*INPUT, *HARMLESS]), max_size=8), st.data())
def test_messages_are_the_same_however_they_are_cut(messages: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(messages)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    for may_write in (True, False):
        viewer, whole = Viewer(may_write=may_write), Viewer(may_write=may_write)
        edges = [0, *cuts, len(stream)]
        parts = [viewer.messages.receive(stream[start:stop]) for start, stop in pairwise(edges)]
        assert b"".join(parts) == whole.messages.receive(stream)


@given(st.binary(max_size=300))
def test_no_bytes_of_a_viewer_without_the_right_become_input(garbage: bytes) -> None:
    viewer = Viewer(may_write=False)
    try:
        passed = viewer.messages.receive(garbage)
    except HawseError:
        return  # the viewer is cut off
    checked = Viewer()  # understands only whole messages
    checked.messages.receive(passed)
    assert (checked.inputs, checked.messages.held) == (0, 0)


def test_a_half_message_is_not_passed_on() -> None:
    viewer = Viewer()
    assert viewer.messages.receive(DOWN[:-1]) == b""
    assert viewer.messages.held == len(DOWN) - 1
    assert viewer.messages.receive(DOWN[-1:]) == DOWN


def test_encodings_that_would_change_later_messages_are_left_out() -> None:
    passed = Viewer().messages.receive(rfb.set_encodings([7, -316, -223, 99, 0]))
    assert passed == rfb.set_encodings([7, -223, 0])
    assert -316 not in ENCODINGS


def test_keys_and_buttons_that_were_pressed_are_released_after_the_lease_is_lost() -> None:
    viewer = Viewer()
    viewer.messages.receive(DOWN + PRESS)
    viewer.may_write = False
    assert viewer.messages.receive(rfb.pointer_event(50, 60, 1)) == rfb.pointer_event(5, 6, 0)
    assert viewer.messages.receive(rfb.pointer_event(51, 60, 0)) == b""
    assert viewer.messages.receive(UP) == UP
    assert viewer.messages.receive(UP) == b""


@pytest.mark.parametrize(
    "message",
    [
        b"\x01",  # colour maps, which RFC 6143 does not have
        b"\xfa",  # xvp: restarts the machine
        b"\xff\x01" + bytes(10),  # QEMU's audio
        struct.pack(">BxH", 2, 129),
        struct.pack(">B3xi", 6, 1 << 30),
        struct.pack(">B3xi", 6, -(1 << 30)),
        struct.pack(">B3xi", 6, -1),
        struct.pack(">B3xIB", 248, 0, 65),
        struct.pack(">BxHHBx", 251, 9, 9, 17),
    ],
)
def test_a_message_that_is_unknown_or_too_large_is_refused(message: bytes) -> None:
    with pytest.raises(HawseError) as refused:
        Viewer().messages.receive(message)
    assert refused.value.code == "protocol_error"


@pytest.mark.parametrize("handshake", [b"RFB 003.003\n", b"GET / HTTP/1", rfb.VERSION + b"\x02"])
def test_another_version_or_kind_of_security_is_refused(handshake: bytes) -> None:
    with pytest.raises(HawseError) as refused:
        ViewerMessages(lambda: True, lambda: None).receive(handshake)
    assert refused.value.code == "protocol_error"
