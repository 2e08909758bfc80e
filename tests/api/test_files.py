"""The `file.*` methods: each requires the right `operate` and takes a root."""

import msgspec
import pytest

from hawse.api import METHODS, files
from hawse.api.files import (
    EDITS_MAX,
    FileEdit,
    FileEntry,
    FileExtract,
    FileExtractProgress,
    FileStatResult,
    SearchMatch,
)
from hawse.api.rights import WRITE

OURS = {name: spec for name, spec in METHODS.items() if name.startswith("file.")}


def test_every_method_takes_a_path_and_a_root_and_requires_write() -> None:
    for name, spec in OURS.items():
        assert issubclass(spec.params, files.FileTarget) or name == "file.cancel"  # that names an upload by its key
        assert spec.requires == WRITE


def test_methods_with_byte_streams_declare_them() -> None:
    assert OURS["file.read"].output == OURS["file.archive"].output == ("content",)
    assert [name for name, spec in OURS.items() if spec.input] == ["file.write"]


def test_fields_that_a_later_server_adds_are_ignored() -> None:
    raw = b'{"path": "x", "type": "file", "size": 1, "mode": 420, "mtime": 1.5, "later": true}'
    entry = msgspec.json.decode(raw, type=FileEntry)
    assert (entry.path, entry.uid, entry.target) == ("x", 0, None)


def test_an_unknown_type_of_file_is_an_error() -> None:
    with pytest.raises(msgspec.ValidationError, match="type"):
        msgspec.convert({"path": "x", "type": "door", "size": 0, "mode": 0, "mtime": 0.0}, FileStatResult)


def test_each_match_has_its_own_list_of_spans() -> None:
    assert SearchMatch(path="a").spans is not SearchMatch(path="b").spans


def test_it_requires_write_and_is_audited() -> None:
    spec = METHODS["file.edit"]
    assert (spec.params, spec.requires, spec.audited) == (FileEdit, WRITE, True)


@pytest.mark.parametrize("edits", [[], [{"old": "", "new": "x"}], [{"old": "a", "new": ""}] * (EDITS_MAX + 1)])
def test_edits_are_bounded(edits: list[object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"path": "f", "edits": edits}, FileEdit)


def test_it_requires_write_reports_progress_and_is_bounded_by_default() -> None:
    spec = METHODS["file.extract"]
    assert (spec.params, spec.requires, spec.audited) == (FileExtract, WRITE, True)
    assert spec.events == {"progress": FileExtractProgress}
    assert (FileExtract(path="a").max_entries, FileExtract(path="a").max_bytes) == (100_000, 4 << 30)
