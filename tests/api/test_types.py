"""The bounds of the types that several surfaces share."""

import msgspec
import pytest

from hawse.api.types import Env, Exit, Grace, Id, Offset, Seconds, Size


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
