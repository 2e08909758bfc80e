"""The parameters of `token.*` and `share.*`: what is refused before a handler sees it."""

import msgspec
import pytest

from hawse.api import GATEWAY
from hawse.api.access import SANDBOXES_MAX, ShareCreate, TokenCreate, TokenRevoke
from hawse.api.rights import ACCESS


def test_every_method_about_access_requires_the_right_to_give_access() -> None:
    found = {name: spec.requires for name, spec in GATEWAY.items() if name.partition(".")[0] in ("token", "share")}
    assert set(found.values()) == {ACCESS}
    assert len(found) == 6


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (TokenCreate, '{"sandboxes": []}'),
        (TokenCreate, '{"sandboxes": ["~"]}'),
        (TokenCreate, '{"sandboxes": ["a@main"]}'),
        (TokenCreate, '{"sandboxes": ["a/b"]}'),
        (TokenCreate, '{"role": "root"}'),
        (TokenCreate, '{"user": ""}'),
        (TokenCreate, '{"expires_in": 0}'),
        (ShareCreate, '{"sandbox": "*"}'),
        (ShareCreate, '{"terminal": ""}'),
        (TokenRevoke, "{}"),
    ],
)
def test_values_that_could_widen_a_right_are_refused(type_: type, text: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(text, type=type_)


def test_a_token_is_for_a_bounded_number_of_sandboxes() -> None:
    names = [f"s{number}" for number in range(SANDBOXES_MAX)]
    assert msgspec.convert({"sandboxes": names}, TokenCreate).sandboxes == names
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"sandboxes": [*names, "more"]}, TokenCreate)
