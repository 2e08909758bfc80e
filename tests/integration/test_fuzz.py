"""Runs each fuzzer on inputs that once failed, and on some numbered cases. `make fuzz` runs more (tests/fuzz/)."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from hawse_gateway.providers.isolation import bubblewrap
from hawse_gateway.providers.isolation.check import check
from tests.fuzz.target import CORPUS, Target, time_limit
from tests.fuzz.targets import TARGETS

works = (path := bubblewrap.find()) is not None and check(path, "private").reason is None
CHOSEN = [target for target in TARGETS.values() if works or target.name != "http"]  # whose calls delete files
PARTS = 4  # the number of tests per fuzzer, to distribute its numbered cases over pytest processes


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Silence the product's warnings about damaged input."""
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("target", CHOSEN, ids=str)
def test_inputs_that_once_failed_pass(target: Target) -> None:
    if not (files := target.corpus()):
        return
    with target.opened() as run:
        for path in files:
            with time_limit():
                run(path.read_bytes())


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("target", CHOSEN, ids=str)
def test_numbered_inputs_pass(target: Target, part: int) -> None:
    with target.opened() as run:
        for number in range(part, target.cases, PARTS):
            case = target.case(number)
            try:
                with time_limit():
                    run(case)
            except Exception as error:
                raise AssertionError(f"python -m tests.fuzz {target.name} --first {number} --cases 1") from error


def test_each_folder_of_the_corpus_belongs_to_a_fuzzer() -> None:
    assert {path.name for path in Path(CORPUS).iterdir()} <= set(TARGETS)
