"""The parameters of backups."""

import msgspec
import pytest

from hawse.api import GATEWAY, METHODS
from hawse.api.backups import BackupCreate, BackupRestore, BackupUnpack


def test_what_clients_call_is_at_the_gateway_and_what_it_calls_in_the_sandbox() -> None:
    names = {name for name in GATEWAY if name.startswith("backup.")}
    assert names == {f"backup.{verb}" for verb in ("create", "restore", "list", "get", "delete", "cancel", "usage")}
    assert {name for name in METHODS if name.startswith("backup.")} == {"backup.pack", "backup.unpack"}


@pytest.mark.parametrize("sha256", ["", "0" * 63, "G" * 64, "0" * 64 + "\n"])
def test_a_digest_has_64_hexadecimal_digits(sha256: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"archive": "a", "sha256": sha256}, BackupUnpack)


@pytest.mark.parametrize("ttl", [0, -1, 1e10])
def test_a_backup_is_kept_for_some_time(ttl: float) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"sandbox": "a", "ttl": ttl}, BackupCreate)


@pytest.mark.parametrize("mode", ["", "mount", None])
def test_a_restore_has_one_of_two_modes(mode: str | None) -> None:
    assert BackupRestore(backup="b").mode == "copy"
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"backup": "b", "mode": mode}, BackupRestore)
