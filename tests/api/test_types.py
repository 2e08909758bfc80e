"""The bounds of the types that several surfaces share."""

from pathlib import Path
from typing import Annotated

import msgspec
import pytest

import hawse.api
from hawse.api.types import PATTERNS, Env, Exit, Grace, Id, Offset, Seconds, Size, in_words


@pytest.mark.parametrize("name", ["a", "p-1", "web.1", "A" * 64])
def test_valid_ids_are_accepted(name: str) -> None:
    assert msgspec.convert(name, Id) == name


@pytest.mark.parametrize("name", ["", "my/../id", "../x", ".hidden", "-n", "a b", "a\n", "A" * 65, "ä", "a\0"])
def test_ids_that_are_paths_options_or_contain_control_characters_are_refused(name: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(name, Id)


@pytest.mark.parametrize(
    ("shape", "value"), [(Offset, -1), (Size, 0), (Size, 1001), (Grace, -0.1), (Grace, 601), (Seconds, 0)]
)
def test_values_out_of_bounds_are_refused(shape: object, value: float) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(value, shape)


def test_null_in_an_environment_is_kept_because_it_removes_a_variable() -> None:
    assert msgspec.json.decode(b'{"A": null, "B": ""}', type=Env) == {"A": None, "B": ""}


def test_an_exit_is_ok_only_with_code_0() -> None:
    assert Exit(0).ok
    assert not Exit(3).ok
    assert not Exit(signal="SIGKILL").ok


def test_each_pattern_is_explained_in_messages() -> None:
    with pytest.raises(msgspec.ValidationError) as refused:
        msgspec.json.decode(b'{"id": "my box"}', type=msgspec.defstruct("Named", [("id", Id)]))
    message = "Expected letters, digits, '.', '_' and '-', starting with a letter or digit - at `$.id`"
    assert in_words(str(refused.value)) == message
    for pattern, words in PATTERNS.items():
        with pytest.raises(msgspec.ValidationError) as refused:
            msgspec.convert("\0", Annotated[str, msgspec.Meta(pattern=pattern)])
        assert in_words(str(refused.value)) == f"Expected {words}"


def test_all_methods_have_patterns_with_an_explanation() -> None:
    for module in Path(*hawse.api.__path__).glob("*.py"):
        assert module.name == "types.py" or "pattern=" not in module.read_text(), f"{module}: use matching(…)"
