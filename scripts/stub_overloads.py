"""A griffe extension for `mkdocs`: documents stub functions that have only overloads, which griffe would leave out."""

import ast
from typing import Any

import griffe  # type: ignore[import-not-found]  # installed only to build the site


class StubOverloads(griffe.Extension):  # type: ignore[misc]
    """Adds the last overload of such a function, which has the docstring, as the function itself."""

    def on_class_members(
        self,
        *,
        node: ast.AST | griffe.ObjectNode,
        cls: griffe.Class,
        agent: griffe.Visitor | griffe.Inspector,
        **_: Any,
    ) -> None:
        for name, overloads in cls.overloads.items():
            if overloads and name not in cls.members:
                function = overloads[-1]
                function.overloads = list(overloads)
                cls.set_member(name, function)
