"""Parses struct docstrings into the purpose of the struct and the meaning of each field.

A docstring has paragraphs, followed by a section `Args:` (parameters) or `Attributes:` (values) with one entry for each
field, as in Google's style guide:

    Args:
        path: The file, relative to the workspace unless it is absolute.
        mode: Permission bits.
            Continuation lines of an entry are indented further.
"""

import re
from collections.abc import Iterable
from functools import cache
from inspect import cleandoc
from typing import Any, NamedTuple

from msgspec import inspect

_SECTION = re.compile(r"^(?:Args|Attributes):$", re.MULTILINE)
_ENTRY = re.compile(r"^    (\w+): (.*)$")


class Documentation(NamedTuple):
    """The parts of a docstring."""

    summary: str  # the docstring's first line
    text: str  # the docstring's paragraphs, each on a single line, separated by empty lines
    fields: dict[str, str]  # the meaning of each field, including inherited fields


@cache
def documentation(struct: type) -> Documentation:
    """Return the combined docstrings of `struct` and its base classes. Without a docstring, all parts are empty."""
    fields: dict[str, str] = {}
    for base in reversed(struct.__mro__):
        fields |= _fields(base.__dict__.get("__doc__") or "")
    text = _SECTION.split(cleandoc(struct.__doc__ or ""))[0].strip()
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text)]
    return Documentation(text.partition("\n")[0], "\n\n".join(paragraphs), fields)


def struct_types(shapes: Iterable[Any]) -> dict[str, inspect.StructType]:
    """Return all structs used in `shapes`, keyed by name.

    Raises:
        ValueError: Two structs have the same name.
    """
    found: dict[str, inspect.StructType] = {}

    def visit(kind: inspect.Type) -> None:
        match kind:
            case inspect.StructType(cls=cls, fields=fields):
                known = found.setdefault(cls.__name__, kind)
                if known.cls is not cls:
                    raise ValueError(f"two types are named {cls.__name__}: {known.cls} and {cls}")
                if known is kind:
                    for field in fields:
                        visit(field.type)
            case inspect.Metadata(type=inner):
                visit(inner)
            case inspect.UnionType(types=members) | inspect.TupleType(item_types=members):
                for member in members:
                    visit(member)
            case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
                visit(item)
            case inspect.DictType(value_type=value):
                visit(value)

    for shape in shapes:
        visit(inspect.type_info(shape))
    return found


def _fields(docstring: str) -> dict[str, str]:
    _, *sections = _SECTION.split(cleandoc(docstring))
    found: dict[str, str] = {}
    name = None
    for line in "\n".join(sections).splitlines():
        if (entry := _ENTRY.match(line)) is not None:
            name = entry[1]
            found[name] = entry[2].strip()
        elif name is not None and line.startswith("        "):
            found[name] += f" {line.strip()}"
        elif line.strip():
            raise ValueError(f"not a field entry of a docstring section: {line!r}")
    return found
