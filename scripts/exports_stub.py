"""Writes the `__init__.pyi` of `hawse` and `hawse.client` for type checkers, from the single list of exports.

Both packages load names on first use, which type checkers cannot follow.
"""

from typing import Final

import hawse

HEADER: Final = '"""The public names, which `make generate` derives from `hawse.EXPORTS`."""\n\n# ruff: noqa\n\n'


def client_exports() -> str:
    """Return the contents of `hawse/client/__init__.pyi`."""
    imports = [_import(module, names.split()) for module, names in sorted(hawse.EXPORTS.items())]
    names = sorted(name for names in hawse.EXPORTS.values() for name in names.split())
    return HEADER + "\n".join(imports) + "\n" + _list(names)


def exports() -> str:
    """Return the contents of `hawse/__init__.pyi`."""
    names = sorted(name for names in hawse.EXPORTS.values() for name in names.split())
    text = HEADER + "from typing import Any\n\n" + _import("hawse.client", names) + "\n\n"
    text += "__version__: str\nEXPORTS: dict[str, str]\n\ndef load(name: str) -> Any: ...\n"
    return text + _list(["__version__", *names])


def _import(module: str, names: list[str]) -> str:
    return f"from {module} import (\n" + "".join(f"    {name} as {name},\n" for name in sorted(names)) + ")"


def _list(names: list[str]) -> str:
    return "\n__all__ = [\n" + "".join(f'    "{name}",\n' for name in names) + "]\n"
