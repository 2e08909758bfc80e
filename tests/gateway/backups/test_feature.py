from pathlib import Path

import pytest

from hawse_gateway.backups.feature import BACKUPS
from hawse_gateway.backups.methods import BackupMethods
from hawse_gateway.backups.stores import BackupStore, DirectoryStore
from hawse_gateway.core.settings import SettingsError
from tests.support.composed import composed, contributed


def test_backups_are_in_the_state_directory_unless_the_settings_name_a_place(tmp_path: Path) -> None:
    composition = composed(BACKUPS, tmp_path)
    assert BackupMethods in contributed(composition)
    assert isinstance(composition.part(BackupStore), DirectoryStore)


def test_a_place_of_backups_that_is_not_valid_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="--backups "):
        composed(BACKUPS, tmp_path, backups="s3://")
