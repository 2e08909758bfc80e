"""Random creations, runs, interrupts, restarts, deletions and sudden ends: contexts agree with a model of them."""

from collections.abc import Iterator

import pytest
from hypothesis.stateful import run_state_machine_as_test

from tests.support.code_model import CodeMachine, Services, options


@pytest.fixture
def services() -> Iterator[None]:
    CodeMachine.services = Services()
    yield
    CodeMachine.services.close()


@pytest.mark.usefixtures("services")
def test_contexts_agree_with_their_model() -> None:
    run_state_machine_as_test(CodeMachine, settings=options(examples=6, steps=15))
