"""What a method says of itself."""

import re
from pathlib import Path

import msgspec
import pytest

from hawse.api import GATEWAY, METHODS, Nothing, Params, Spec, method, spec_of
from hawse.api.files import FileChmod
from hawse.api.rights import VIEW

WIRE = (Path(__file__).parents[2] / "docs" / "wire.md").read_text("utf-8")
ALL = METHODS | GATEWAY


def section(number: int) -> str:
    return WIRE.partition(f"\n## {number}. ")[2].partition("\n## ")[0]


class Ask(Params[Nothing]):
    """Asks for something.

    And says more of it.
    """


def test_the_summary_is_the_first_line_of_what_the_parameters_say() -> None:
    assert Spec("ask", Ask, Nothing).summary == "Asks for something."


def test_what_has_events_or_bytes_is_a_stream() -> None:
    assert not Spec("ask", Ask, Nothing).stream
    assert Spec("ask", Ask, Nothing, events={"opened": Nothing}).stream
    assert Spec("ask", Ask, Nothing, output=("stdout",)).stream
    assert Spec("ask", Ask, Nothing, input=True).stream


def test_every_method_says_what_it_does() -> None:
    assert [name for name, spec in ALL.items() if not spec.summary] == []


def test_every_type_says_what_it_is() -> None:
    types = [shape for spec in ALL.values() for shape in (spec.params, spec.result, *spec.events.values())]
    _, schemas = msgspec.json.schema_components(types)
    assert [name for name, schema in schemas.items() if not schema.get("description")] == []


def test_the_wire_describes_every_method() -> None:
    methods = section(9)
    assert [name for name in ALL if f"`{name}`" not in methods and f"`{name} {{" not in methods] == []


def test_the_wire_names_what_a_viewer_may() -> None:
    listed = section(10).partition("\nA viewer may call ")[2].partition("\n\n")[0]
    named = set(re.findall(r"`([a-z]+(?:\.[a-z]+)?)`", listed))
    assert named == {name for name, spec in ALL.items() if spec.requires == VIEW}


def test_a_parameter_struct_is_its_method() -> None:
    spec = spec_of(FileChmod)
    assert spec is METHODS["file.chmod"]
    assert (spec.params, spec.result) == (FileChmod, Nothing)
    with pytest.raises(KeyError):
        spec_of(Ask)


def test_a_declaration_that_contradicts_itself_is_refused() -> None:
    with pytest.raises(ValueError, match="declared twice"):
        method("file.chmod")(Ask)
    with pytest.raises(ValueError, match="named Ask, not FileAsk"):
        method("file.ask")(Ask)
    with pytest.raises(ValueError, match="unknown errors: \\['no_such_code'\\]"):
        method("ask", raises=("no_such_code",))(Ask)
    with pytest.raises(ValueError, match="not derived from Params"):
        method("plain")(Plain)  # type: ignore[type-var]
    assert not {"file.ask", "ask", "plain"} & ALL.keys()


class Plain(msgspec.Struct):
    """No parameters of a method."""
