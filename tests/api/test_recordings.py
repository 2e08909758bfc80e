"""The `recording.*` methods."""

import msgspec
import pytest

from hawse.api.recordings import PARTS, RecordingInfo, RecordingRead
from runtime.recording import cast_writer
from runtime.recording.storage import RecordingFile
from tests.support.examples import RECORDING


def test_the_stored_fields_of_a_recording_are_those_of_the_result() -> None:
    assert RecordingFile.__struct_fields__ == RecordingInfo.__struct_fields__
    assert msgspec.to_builtins(msgspec.convert(RECORDING, RecordingInfo)) == RECORDING


def test_the_parts_are_the_files_on_disk() -> None:
    assert cast_writer.PARTS == PARTS
    assert msgspec.convert({"id": "r"}, RecordingRead).part == "cast"
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"id": "r", "part": "json"}, RecordingRead)
