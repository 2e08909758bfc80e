"""Locates the product's packages in the repository."""

import subprocess
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


def tracked(*patterns: str) -> list[Path]:
    """Return the files that git tracks, all of them or those that match patterns of `git ls-files`."""
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, check=True
    )
    return [path for name in listed.stdout.decode().split("\0") if name and (path := ROOT / name).is_file()]


def name_of(module: Path) -> str:
    """Return a module's dotted name, such as `hawse_gateway.auth.cookies`. A package's name omits `__init__`."""
    folder = next(folder for folder in PACKAGES.values() if module.is_relative_to(folder))
    parts = module.relative_to(folder.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
