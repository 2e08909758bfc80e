"""The `file.*` methods: each requires the right `operate` and takes a root."""

from hawse.api import METHODS, files
from hawse.api.rights import WRITE

OURS = {name: spec for name, spec in METHODS.items() if name.startswith("file.")}


def test_every_method_takes_a_path_and_a_root_and_requires_write() -> None:
    for name, spec in OURS.items():
        assert issubclass(spec.params, files.FileTarget) or name == "file.cancel"  # that names an upload by its key
        assert spec.requires == WRITE


def test_methods_with_byte_streams_declare_them() -> None:
    assert OURS["file.read"].output == OURS["file.archive"].output == ("content",)
    assert [name for name, spec in OURS.items() if spec.input] == ["file.write"]
