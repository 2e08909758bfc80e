"""The values of the `file.*` methods."""

import msgspec
import pytest

from hawse.api import files
from hawse.api.file_values import FileEntry, FileStatResult, SearchMatch


def test_fields_that_a_later_server_adds_are_ignored() -> None:
    raw = b'{"path": "x", "type": "file", "size": 1, "mode": 420, "mtime": 1.5, "later": true}'
    entry = msgspec.json.decode(raw, type=FileEntry)
    assert (entry.path, entry.uid, entry.target) == ("x", 0, None)


def test_an_unknown_type_of_file_is_an_error() -> None:
    with pytest.raises(msgspec.ValidationError, match="type"):
        msgspec.convert({"path": "x", "type": "door", "size": 0, "mode": 0, "mtime": 0.0}, FileStatResult)


def test_each_match_has_its_own_list_of_spans() -> None:
    assert SearchMatch(path="a").spans is not SearchMatch(path="b").spans


def test_the_values_can_be_imported_from_the_module_of_the_methods() -> None:
    assert files.FileEntry is FileEntry
