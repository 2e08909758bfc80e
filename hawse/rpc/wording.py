"""Adds a parameter's allowed values to msgspec's error messages, which never list choices."""

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec.inspect as types

from hawse.api.types import in_words

_CHOICE: Final = re.compile(r"(?P<problem>Invalid enum value .*?)(?P<rest> - at `(?P<path>[^`]*)`)", re.DOTALL)
_STEP: Final = re.compile(r"\.([A-Za-z0-9_]+)|(\[[^]]*\])")  # path component: a field, or an item in an array or object


def worded(problem: str, shape: Any) -> str:
    """Return a msgspec error message with the allowed values added.

    Args:
        problem: The message from msgspec.
        shape: The type of the parameters.
    """
    if (found := _CHOICE.fullmatch(problem)) and (allowed := _choices(shape, found["path"])):
        return f"{found['problem']}; allowed: {', '.join(f'`{value}`' for value in allowed)}{found['rest']}"
    return in_words(problem)


def _choices(shape: Any, path: str) -> list[str]:
    """Return the choices for the field at a path. The result is empty if the field has no fixed choices."""
    kinds = [types.type_info(shape)]
    for field, _ in _STEP.findall(path):
        kinds = [inner for kind in kinds for inner in _inside(kind, field)]
    return [str(value) for kind in kinds for one in alternatives(kind) for value in getattr(one, "values", ())]


def _inside(kind: types.Type, field: str) -> Iterator[types.Type]:
    """Yield the types that a field can have. If `field` is "", yield the types that the items can have."""
    for one in alternatives(kind):
        if isinstance(one, types.StructType):
            yield from (each.type for each in one.fields if each.encode_name == field)
        elif isinstance(one, types.ListType | types.SetType | types.VarTupleType | types.FrozenSetType) and not field:
            yield one.item_type
        elif isinstance(one, types.DictType) and not field:
            yield one.value_type


def alternatives(kind: types.Type) -> tuple[types.Type, ...]:
    """Return the members of a union, or the type itself, without the constraints on its values."""
    kind = kind.type if isinstance(kind, types.Metadata) else kind
    return kind.types if isinstance(kind, types.UnionType) else (kind,)
