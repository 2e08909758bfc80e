"""The `recording.*` methods."""

import msgspec
import pytest

from hawse.api.recordings import PARTS, RecordingInfo, RecordingRead
from hawse_runtime.recording import cast_writer
from tests.support.examples import RECORDING


def test_a_recording_decodes_to_the_same_fields_that_it_encodes() -> None:
    assert msgspec.to_builtins(msgspec.convert(RECORDING, RecordingInfo)) == RECORDING


def test_the_parts_are_the_files_on_disk() -> None:
    assert cast_writer.PARTS == PARTS
    assert msgspec.convert({"id": "r"}, RecordingRead).part == "cast"
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"id": "r", "part": "json"}, RecordingRead)
