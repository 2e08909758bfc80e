"""The parameters of mounts."""

import msgspec
import pytest

from hawse.api import GATEWAY
from hawse.api.mounts import MountCreate, MountDelete, MountInfo


def test_they_are_methods_of_the_gateway_with_the_rights_of_the_sandbox() -> None:
    found = {name: spec for name, spec in GATEWAY.items() if name.startswith("mount.")}
    assert set(found) == {"mount.create", "mount.list", "mount.delete"}
    assert {spec.target for spec in found.values()} == {"sandbox"}


@pytest.mark.parametrize("secret", ["", "a b", "a\n", "ä", "x" * 4097])
def test_a_credential_is_printable_ascii(secret: str) -> None:
    params = {"sandbox": "a", "bucket": "b", "path": "c"}
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({**params, "credentials": {"access_key_id": "id", "secret_access_key": secret}}, MountCreate)


@pytest.mark.parametrize("timeout", [-1, 3601])
def test_uploads_are_waited_for_at_most_an_hour(timeout: float) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"sandbox": "a", "mount": "m", "timeout": timeout}, MountDelete)


def test_a_mount_says_what_it_shows() -> None:
    assert MountInfo(id="m", sandbox="s", path="p", bucket="b").source == "b"
    assert MountInfo(id="m", sandbox="s", path="p", bucket="b", prefix="x/y").source == "b/x/y"
    assert MountInfo(id="m", sandbox="s", path="p", backup="b-1").source == "backup b-1"
