"""Error messages for invalid parameters."""

from typing import Any, Literal

import msgspec
import pytest

from hawse.api.sandboxes import SandboxCreate
from hawse.api.tunnels import TunnelCreate
from hawse.rpc.wording import worded


class Item(msgspec.Struct):
    kind: Literal["file", "directory"]


class Params(msgspec.Struct):
    items: list[Item | None]
    named: dict[str, Item]


def problem(params: dict[str, Any], shape: Any = SandboxCreate) -> str:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(params, shape)
    return worded(str(caught.value), shape)


def test_a_pattern_is_put_in_words() -> None:
    words = "letters, digits, '.', '_' and '-', starting with a letter or digit"
    assert problem({"id": "a b"}) == f"Expected {words} - at `$.id`"
    assert "single hyphens" in problem({"port": 1, "name": "A"}, TunnelCreate)


def test_the_values_of_a_choice_are_listed() -> None:
    text = problem({"id": "a", "network": "other"})
    assert text.startswith("Invalid enum value 'other'; allowed: `")
    assert "`private`" in text
    assert text.endswith(" - at `$.network`")


def test_choices_are_found_in_lists_objects_and_alternatives() -> None:
    for params in ({"items": [{"kind": "x"}], "named": {}}, {"items": [], "named": {"a": {"kind": "x"}}}):
        assert "allowed: `directory`, `file` - at `$." in problem(params, Params)


def test_other_messages_are_unchanged() -> None:
    assert problem({"id": 5}) == "Expected `str | null`, got `int` - at `$.id`"
    assert worded("anything", SandboxCreate) == "anything"
