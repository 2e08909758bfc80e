import json
from pathlib import Path
from typing import Any

import pytest

from hawse.api.sandboxes import Network
from hawse_gateway.providers.isolation import bubblewrap
from hawse_gateway.providers.isolation.check import IsolationCheck, check, judge

GOOD = {"uid": 1000, "capabilities": 0, "no_new_privileges": True, "seccomp": True, "pids": [1, 2], "interfaces": []}


@pytest.mark.parametrize("network", ["none", "private", "host"])
def test_sandboxes_are_isolated_on_this_machine(network: Network) -> None:
    bwrap = bubblewrap.find()
    assert bwrap is not None
    assert check(bwrap, network) == IsolationCheck(seccomp=True)


def test_a_missing_bwrap_is_the_reason() -> None:
    assert "/no/such/bwrap" in str(check("/no/such/bwrap", "private").reason)


def test_the_error_that_bwrap_prints_is_the_reason(tmp_path: Path) -> None:
    assert check("/bin/false", "private").reason == "bwrap ended with exit code 1"


@pytest.mark.parametrize(
    ("change", "wrong"),
    [({"capabilities": 1}, "capabilities"), ({"no_new_privileges": False}, "no_new_privileges"), ({"uid": 0}, "uid")],
)
def test_a_program_that_is_not_isolated_is_the_reason(change: dict[str, Any], wrong: str) -> None:
    assert judge(json.dumps(GOOD)) == IsolationCheck(seccomp=True)
    assert judge(json.dumps(GOOD | change)).reason == f"a program in a sandbox is not isolated: {wrong}"
    assert judge(json.dumps(GOOD | {"pids": [7]})).reason == "a program in a sandbox is not isolated: pids"


def test_a_machine_without_seccomp_is_isolated_and_reports_it() -> None:
    assert judge(json.dumps(GOOD | {"seccomp": False})) == IsolationCheck(seccomp=False)


@pytest.mark.parametrize("output", ["", "[]", "{}", "x"])
def test_an_unintelligible_answer_is_the_reason(output: str) -> None:
    assert "the isolation check failed" in str(judge(output).reason)
