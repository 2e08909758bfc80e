"""The file methods as types: nothing of them is for viewers, and every path may be confined."""

from hawse.api import METHODS, files


def test_every_method_takes_a_path_and_a_root_and_is_for_owners() -> None:
    for name, spec in files.METHODS.items():
        assert METHODS[name] is spec
        assert name.startswith("file.")
        assert issubclass(spec.params, files.FileTarget)
        assert not spec.viewer


def test_what_carries_bytes_says_which() -> None:
    assert files.METHODS["file.read"].output == files.METHODS["file.archive"].output == ("content",)
    assert [name for name, spec in files.METHODS.items() if spec.input] == ["file.write"]
