"""Random operations on code contexts with real processes, compared with a model (tests/support/code_model.py)."""

import time
import traceback

from hypothesis.stateful import run_state_machine_as_test

from tests.support.code_model import CodeMachine, Services, options

EXAMPLES = 10  # per run; a failure is printed with the steps that lead to it


def run(seconds: float) -> int:
    """Run examples until the time is up. Returns the number of failures, at most 1."""
    end = time.monotonic() + seconds
    CodeMachine.services = Services()
    try:
        while time.monotonic() < end:
            run_state_machine_as_test(CodeMachine, settings=options(EXAMPLES, steps=30))
    except Exception:
        traceback.print_exc()
        return 1
    finally:
        CodeMachine.services.close()
    return 0
