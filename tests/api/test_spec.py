"""The declarations of methods: consistent, documented, and complete in their errors."""

import ast
from pathlib import Path

import msgspec
import pytest

from hawse.api import GATEWAY, METHODS, Nothing, Params, Spec, method, spec_of
from hawse.api.files import FileChmod
from hawse.api.rights import ROLES
from hawse.api.spec import EVERY_CALL, SELECTED
from tests.support.packages import PACKAGES

WIRE = (Path(__file__).parents[2] / "docs" / "wire.md").read_text("utf-8")
ALL = METHODS | GATEWAY


def section(number: int) -> str:
    return WIRE.partition(f"\n## {number}. ")[2].partition("\n## ")[0]


class Ask(Params[Nothing]):
    """Ask for something.

    It has a second paragraph.
    """


def test_the_summary_is_the_first_line_of_the_docstring_of_the_parameters() -> None:
    assert Spec("ask", Ask, Nothing).summary == "Ask for something."


def test_a_method_with_events_or_bytes_is_a_stream() -> None:
    assert not Spec("ask", Ask, Nothing).stream
    assert Spec("ask", Ask, Nothing, events={"opened": Nothing}).stream
    assert Spec("ask", Ask, Nothing, output=("stdout",)).stream
    assert Spec("ask", Ask, Nothing, input=True).stream


def test_every_method_has_a_summary() -> None:
    assert [name for name, spec in ALL.items() if not spec.summary] == []


def test_every_type_has_a_docstring() -> None:
    types = [shape for spec in ALL.values() for shape in (spec.params, spec.result, *spec.events.values())]
    _, schemas = msgspec.json.schema_components(types)
    assert [name for name, schema in schemas.items() if not schema.get("description")] == []


def test_wire_md_describes_every_method() -> None:
    methods = section(9)
    assert [name for name in ALL if f"`{name}`" not in methods and f"`{name} {{" not in methods] == []


def test_wire_md_describes_every_role_and_right() -> None:
    described = section(10)
    for role, granted in ROLES.items():
        assert f"| `{role}` | `{granted[0]}` |" in described
    for right in {spec.requires for spec in ALL.values()}:
        assert f"\n| `{right}` | " in described


def test_a_method_is_found_by_its_parameter_struct() -> None:
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
    for place in ("terminal", "target", "names"):
        with pytest.raises(ValueError, match="ask has no parameter 'id'"):
            method("ask", **{place: "id"})(Ask)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"ask has no parameter '\*'"):
        method("ask", target=SELECTED)(Ask)
    with pytest.raises(ValueError, match="not derived from Params"):
        method("plain")(Plain)  # type: ignore[type-var]
    assert not {"file.ask", "ask", "plain"} & ALL.keys()


class Plain(msgspec.Struct):
    """A struct that is not derived from `Params`."""


RUNTIME = PACKAGES["hawse_runtime"]
# The prefixes of the methods that the packages of the runtime implement. Other packages serve all of them.
PREFIXES = {
    "terminal": {"terminal"},
    "people": {"terminal"},
    "screen": {"terminal"},
    "recording": {"recording"},
    "process": {"exec", "process"},
    "session": {"session"},
    "files": {"file"},
    "watch": {"watch"},
    "git": {"git"},
    "ports": {"port"},
}


def codes(path: Path) -> set[str]:
    """The error codes that stand in the `HawseError("code", …)` expressions of a module."""
    return {
        node.args[0].value
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "HawseError"
        if node.args and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str)
    }


@pytest.mark.parametrize("path", sorted(RUNTIME.rglob("*.py")), ids=lambda path: str(path.relative_to(RUNTIME)))
def test_each_error_of_the_runtime_is_declared_by_a_method_of_its_package(path: Path) -> None:
    prefixes = PREFIXES.get(path.relative_to(RUNTIME).parts[0])
    specs = [spec for name, spec in METHODS.items() if prefixes is None or name.partition(".")[0] in prefixes]
    declared = {code for spec in specs for code in spec.raises}
    assert codes(path) - declared - {*EVERY_CALL, "protocol_error"} == set()


def test_each_error_of_the_gateways_methods_is_declared() -> None:
    declared = {code for spec in GATEWAY.values() for code in spec.raises}
    assert codes(PACKAGES["hawse_gateway"] / "preview" / "methods.py") - declared - set(EVERY_CALL) == set()


def test_codes_are_declared_once() -> None:
    for spec in (METHODS | GATEWAY).values():
        assert len(spec.raises) == len(set(spec.raises)), spec.name
