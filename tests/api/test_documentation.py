"""Docstrings of structs: paragraphs, and what each field means."""

import ast
import re
from pathlib import Path

import msgspec
import pytest

import hawse.api
from hawse.api.documentation import documentation, struct_types


class Base(msgspec.Struct):
    """Fields that several structs share.

    Args:
        path: The file.
        root: A directory.
    """

    path: str
    root: str


class Example(Base):
    """Do something
    with a file.

    It is done once.

    Args:
        mode: Permission bits,
            as chmod(1) has them.
        root: A directory that nothing leaves.
    """

    mode: int


class Plain(msgspec.Struct):
    """Nothing more: not even a section."""


class Wrong(msgspec.Struct):
    """A mistake.

    Attributes:
        no entry
    """


def test_paragraphs_are_one_line_each_and_do_not_hold_the_sections() -> None:
    found = documentation(Example)
    assert found.summary == "Do something"
    assert found.text == "Do something with a file.\n\nIt is done once."
    assert documentation(Plain).text == "Nothing more: not even a section."


def test_the_fields_of_base_classes_are_documented_unless_the_struct_documents_them() -> None:
    assert documentation(Example).fields == {
        "path": "The file.",
        "root": "A directory that nothing leaves.",
        "mode": "Permission bits, as chmod(1) has them.",
    }
    assert documentation(Plain).fields == {}


def test_a_line_that_is_no_entry_is_an_error() -> None:
    with pytest.raises(ValueError, match="not a field entry of a docstring section"):
        documentation(Wrong)


class Part(msgspec.Struct):
    """A part."""

    number: int


class Whole(msgspec.Struct):
    """Parts in every kind of container."""

    one: Part | None
    many: list[Example]
    pair: tuple[Plain, int]
    named: dict[str, "list[Base]"]


def test_structs_are_found_inside_of_others() -> None:
    assert set(struct_types([Whole])) == {"Whole", "Part", "Example", "Plain", "Base"}


def test_two_structs_of_one_name_are_an_error() -> None:
    other = msgspec.defstruct("Part", [("letter", str)])
    with pytest.raises(ValueError, match="two types are named Part"):
        struct_types([Part, other])


API = Path(hawse.api.__file__).parent
USED = struct_types(
    shape
    for spec in (hawse.api.METHODS | hawse.api.GATEWAY).values()
    for shape in (spec.params, spec.result, *spec.events.values())
)
# Words of an earlier private vocabulary: a client, a program or a message has a name.
PRIVATE_WORDS = re.compile(r"\b(nobody|somebody|everybody|whoever|told|heard)\b", re.IGNORECASE)


@pytest.mark.parametrize("name", USED)
def test_each_field_of_a_method_is_documented(name: str) -> None:
    struct = USED[name]
    text = documentation(struct.cls)
    assert text.summary.endswith(".")
    assert [field.name for field in struct.fields if not text.fields.get(field.name)] == []
    assert text.fields.keys() - {field.name for field in struct.fields} == set()


@pytest.mark.parametrize("path", sorted(API.glob("*.py")), ids=lambda path: path.name)
def test_docstrings_use_standard_terms(path: Path) -> None:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    texts = [ast.get_docstring(node) for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, documented)]
    assert [match[0] for text in texts if text for match in PRIVATE_WORDS.finditer(text)] == []
