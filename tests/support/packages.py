"""Locates the product's packages in the repository."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
PACKAGES: Final = {
    "hawse": ROOT / "hawse",
    "hawse_runtime": ROOT / "runtime" / "hawse_runtime",
    "hawse_gateway": ROOT / "gateway" / "hawse_gateway",
}


def modules() -> Iterator[Path]:
    """Yield the files of all modules of the product."""
    for folder in PACKAGES.values():
        yield from folder.rglob("*.py")


def name_of(module: Path) -> str:
    """Return a module's dotted name, such as `hawse_gateway.auth.cookies`. A package's name omits `__init__`."""
    folder = next(folder for folder in PACKAGES.values() if module.is_relative_to(folder))
    parts = module.relative_to(folder.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
