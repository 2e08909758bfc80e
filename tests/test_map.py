"""Each module has exactly one test file, at the mirrored path, and each test file has a module.

`hawse/wire/x.py` -> `tests/wire/test_x.py`, `runtime/a/x.py` -> `tests/runtime/a/test_x.py`, and so on. Tests
of several modules together are in `tests/integration/`, tests of the repository itself directly in `tests/`.
Adapters of frameworks, which `make test-apps` installs, are tested in `e2e/apps/adapters/`.
"""

import ast
import re
from collections import Counter
from pathlib import Path

from tests.support import packages
from tests.support.packages import PACKAGES, ROOT

TESTS = ROOT / "tests"
MODULE_LINES = 400
DECLARATION_LINES = 800  # of a module of hawse/api, which is a table of structs: one module for each surface
FUNCTION_LINES = 60
FOLDER_FILES = 25

# Tests of the repository itself. Every other test_*.py outside tests/integration/ belongs to one module.
HOUSE = {TESTS / f"test_{name}.py" for name in ("arrows", "docs", "english", "generated", "house", "isolation", "map")}


def test_file_of(module: Path) -> Path:
    """The test file of a module. Of the folders of the packages, only `runtime` and `gateway` are in its path."""
    folders = tuple(part for part in module.relative_to(ROOT).parts[:-1] if part not in PACKAGES)
    if folders == ("adapters",) and module.stem not in ("extra", "tools"):
        return ROOT / "e2e" / "apps" / "adapters" / f"test_{module.stem}.py"
    return TESTS.joinpath(*folders, f"test_{module.stem.lstrip('_')}.py")


test_file_of.__test__ = False  # type: ignore[attr-defined]  # its name looks like a test


def modules() -> list[Path]:
    return sorted(path for path in packages.modules() if path.stem not in {"__init__", "__main__"})


def names(paths: set[Path]) -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for path in paths)


def most_lines(module: Path) -> int:
    """The most lines that a module can have."""
    return DECLARATION_LINES if module.parent == ROOT / "hawse" / "api" else MODULE_LINES


def test_each_module_has_its_one_test_file() -> None:
    lacking = {module for module in modules() if not test_file_of(module).is_file()}
    assert not lacking, f"modules without their test file: {names(lacking)}"


def test_no_two_modules_share_a_test_file() -> None:
    files = [test_file_of(module) for module in modules()]
    shared = {file for file in files if files.count(file) > 1}
    assert not shared, f"test files of several modules: {names(shared)}"


def test_each_test_file_has_its_module() -> None:
    files = {path for path in TESTS.rglob("test_*.py") if TESTS / "integration" not in path.parents}
    stray = files - HOUSE - {test_file_of(module) for module in modules()}
    assert not stray, f"test files without a module: {names(stray)}"


def test_no_module_has_more_than_400_lines_or_800_of_declarations() -> None:
    """A longer one holds two concepts. About 250 lines are usual."""
    long = {path for path in modules() if len(path.read_text("utf-8").splitlines()) > most_lines(path)}
    assert not long, f"modules of more than {MODULE_LINES} lines, or {DECLARATION_LINES} in hawse/api: {names(long)}"


def test_no_folder_has_more_than_25_modules() -> None:
    """A larger one holds several concepts. A test of the page counts the files of web/src."""
    folders = Counter(path.parent for path in packages.modules())
    full = {str(folder.relative_to(ROOT)): count for folder, count in folders.items() if count > FOLDER_FILES}
    assert not full, f"folders with more than {FOLDER_FILES} modules: {full}"


def code_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a function without its docstring."""
    first = function.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    described = (first.end_lineno or 0) - first.lineno + 1 if documented else 0
    return (function.end_lineno or 0) - function.lineno + 1 - described


def test_no_function_has_more_than_60_lines() -> None:
    """About 7 lines are usual, and 40 are many. The docstring does not count."""
    long = {
        f"{path.relative_to(ROOT)}: {node.name}": lines
        for path in packages.modules()
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (lines := code_lines(node)) > FUNCTION_LINES
    }
    assert not long, f"functions of more than {FUNCTION_LINES} lines: {long}"


def test_public_classes_of_a_package_have_unique_names() -> None:
    """`hawse.sync` has its own `Client` and `Sandbox`, which stand for the asynchronous classes."""
    found = Counter(
        f"{package}: {node.name}"
        for package, folder in PACKAGES.items()
        for path in folder.rglob("*.py")
        if ROOT / "hawse" / "sync" not in path.parents
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert sorted(name for name, count in found.items() if count > 1) == []


def test_no_test_file_is_imported() -> None:
    """What several test files share is in `tests/support/`."""
    importing = re.compile(
        r"^\s*(?:from|import) tests\.(?!support)(?:\w+\.)*(?:test_\w+|conftest|kit|support)\b.*", re.M
    )
    found = {path: hit[0] for path in TESTS.rglob("*.py") for hit in importing.finditer(path.read_text("utf-8"))}
    assert not found, "\n".join(f"{path.relative_to(ROOT)}: {line.strip()}" for path, line in found.items())
