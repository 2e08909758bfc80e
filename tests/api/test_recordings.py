"""Recordings as types."""

import msgspec
import pytest

from hawse.api.recordings import PARTS, RecordingInfo, RecordingRead
from runtime.recording import cast_writer as castfile
from runtime.recording.storage import RecordingFile
from tests.support.examples import RECORDING


def test_what_is_kept_of_a_recording_is_what_is_told_of_it() -> None:
    assert RecordingFile.__struct_fields__ == RecordingInfo.__struct_fields__
    assert msgspec.to_builtins(msgspec.convert(RECORDING, RecordingInfo)) == RECORDING


def test_the_parts_are_those_on_the_disk() -> None:
    assert castfile.PARTS == PARTS
    assert msgspec.convert({"id": "r"}, RecordingRead).part == "cast"
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"id": "r", "part": "json"}, RecordingRead)
