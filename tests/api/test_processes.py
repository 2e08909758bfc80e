"""`exec` and the `process.*` methods."""

import msgspec
import pytest

from hawse.api import METHODS
from hawse.api.processes import (
    Exec,
    Since,
)

OURS = {name: spec for name, spec in METHODS.items() if name.startswith("process.") or name == "exec"}


def test_all_parameters_of_a_command_are_decoded() -> None:
    raw = b'{"command": "ls", "env": {"A": null}, "since": {"stdout": 3}, "timeout": 1.5, "stdin": true}'
    assert msgspec.json.decode(raw, type=Exec) == Exec(
        command="ls", env={"A": None}, since=Since(stdout=3), timeout=1.5, stdin=True
    )


@pytest.mark.parametrize("name", OURS)
def test_every_result_has_a_json_schema(name: str) -> None:
    schema = msgspec.json.schema(METHODS[name].result)
    assert schema["$defs"]
