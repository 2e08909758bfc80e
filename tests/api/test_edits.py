"""`file.edit`, as it is declared."""

import msgspec
import pytest

from hawse.api import METHODS
from hawse.api.edits import EDITS_MAX, FileEdit
from hawse.api.rights import WRITE


def test_it_requires_write_and_is_audited() -> None:
    spec = METHODS["file.edit"]
    assert (spec.params, spec.requires, spec.audited) == (FileEdit, WRITE, True)


@pytest.mark.parametrize("edits", [[], [{"old": "", "new": "x"}], [{"old": "a", "new": ""}] * (EDITS_MAX + 1)])
def test_edits_are_bounded(edits: list[object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"path": "f", "edits": edits}, FileEdit)
