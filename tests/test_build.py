"""The build that runs is known, and a run of the tests that asks for one gets it."""

import importlib.machinery
import os
import sys
from pathlib import Path

import pytest

from hatch_build import outdated
from hawse.build import BUILD
from hawse.wire import frames


def test_the_build_is_that_of_the_modules_which_were_imported() -> None:
    compiled = isinstance(frames.__spec__.loader, importlib.machinery.ExtensionFileLoader)
    assert ("compiled" if compiled else "pure") == BUILD


def test_tests_of_a_build_run_on_that_build() -> None:
    assert os.environ.get("HAWSE_BUILD", BUILD) == BUILD


@pytest.mark.parametrize("age", [-10, 10])
def test_a_module_that_was_compiled_from_an_older_source_is_found(tmp_path: Path, age: int) -> None:
    source = tmp_path / "hawse" / "link.py"
    source.parent.mkdir()
    source.touch()
    compiled = source.with_name(f"link.{sys.implementation.cache_tag}.so")
    compiled.touch()
    made = compiled.stat().st_mtime
    os.utime(source, (made + age, made + age))
    assert outdated(tmp_path) == (["hawse/link.py"] if age > 0 else [])
