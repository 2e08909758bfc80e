"""Check that the built site documents all public members of the Python client: `python -m scripts.check_reference`.

`make docs` runs this after the build. The exit code is 1 if a class, function or member has no anchor.
"""

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Final

import hawse
import hawse.sync

SITE: Final = Path(__file__).resolve().parent.parent / "build" / "docs" / "site" / "reference"
ANCHOR: Final = re.compile(r'id="hawse\.([\w.]+)"')


def members(name: str, value: object) -> Iterator[str]:
    """Yield a public name. For a class, also yield `NAME.MEMBER` for each method and property defined by hawse.

    Fields are described in the docstring of their class and have no anchors.
    """
    yield name
    if not isinstance(value, type):
        return
    fields = getattr(value, "__dataclass_fields__", ())  # the default of a field can be a function
    for member in inspect.classify_class_attrs(value):
        ours = member.defining_class.__module__.startswith("hawse") and member.name not in fields
        if ours and member.kind != "data" and not member.name.startswith("_"):
            yield f"{name}.{member.name}"


def anchors(*pages: str) -> set[str]:
    """Return the last part and the last two parts of each anchor in the pages, such as `Sandbox` and `Sandbox.exec`."""
    found = [match for page in pages for match in ANCHOR.findall((SITE / page).read_text("utf-8"))]
    return {".".join(path.split(".")[-count:]) for path in found for count in (1, 2)}


def missing(module: ModuleType, *pages: str) -> list[str]:
    """Return the public members of a module that have no anchor in the pages."""
    shown = anchors(*pages)
    names = [name for name in module.__all__ if name != "__version__"]
    return [found for name in names for found in members(name, getattr(module, name)) if found not in shown]


def main() -> None:
    lacking = missing(hawse, "python.html", "types.html", "errors.html")
    lacking += [f"sync: {name}" for name in missing(hawse.sync, "sync.html", "types.html", "errors.html")]
    if lacking:
        sys.exit(f"{len(lacking)} public members are missing in the reference:\n" + "\n".join(lacking))


if __name__ == "__main__":
    main()
