"""The file methods as types: nothing of them is for viewers, and every path may be confined."""

from hawse.api import METHODS, files
from hawse.api.rights import OPERATE

OURS = {name: spec for name, spec in METHODS.items() if name.startswith("file.")}


def test_every_method_takes_a_path_and_a_root_and_is_for_owners() -> None:
    for spec in OURS.values():
        assert issubclass(spec.params, files.FileTarget)
        assert spec.requires == OPERATE


def test_what_carries_bytes_says_which() -> None:
    assert OURS["file.read"].output == OURS["file.archive"].output == ("content",)
    assert [name for name, spec in OURS.items() if spec.input] == ["file.write"]
