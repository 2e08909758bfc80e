"""Stored rows of credentials."""

import msgspec

from hawse.wire import Principal
from hawse_gateway.auth.credential_rows import Credential

ROW = Credential(
    id="link-1",
    kind="link",
    digest="0" * 64,
    principal=Principal(id="link-1", name="Bob", kind="guest", rights=("view/local",)),
    created=1.0,
)


def test_a_row_without_uses_is_one_of_an_earlier_version() -> None:
    stored = msgspec.json.encode(ROW)
    assert b"uses" not in stored
    assert msgspec.json.decode(stored, type=Credential) == ROW


def test_a_row_has_the_number_of_its_uses() -> None:
    used = msgspec.structs.replace(ROW, uses=1, max_uses=2)
    assert msgspec.json.decode(msgspec.json.encode(used), type=Credential) == used
