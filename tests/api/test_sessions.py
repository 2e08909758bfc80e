"""The `session.*` methods: which parameters are refused before a command runs."""

import msgspec
import pytest

from hawse.api import METHODS
from hawse.api.rights import VIEW


def test_all_methods_are_declared() -> None:
    assert not any(spec.requires == VIEW for name, spec in METHODS.items() if name.startswith("session.")), (
        "a viewer has no shell"
    )


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("session.create", {"id": "../up"}),
        ("session.create", {"shell": ""}),
        ("session.exec", {"id": "s"}),
        ("session.exec", {"id": "s", "command": "x" * (1 << 20) + "x"}),
        ("session.exec", {"id": "s", "command": "true", "timeout": 0}),
        ("session.delete", {"id": "s", "grace": -1}),
        ("session.process", {"id": "s"}),
    ],
)
def test_parameters_out_of_bounds_are_refused(method: str, params: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(params, METHODS[method].params)
