from typing import Any

import pytest

from hawse_gateway.backups.settings import BackupSettings
from hawse_gateway.core.settings import SettingsError


@pytest.mark.parametrize("name", ["backups_size", "overlays_size"])
def test_a_size_is_at_least_one_byte(name: str) -> None:
    given: dict[str, Any] = {name: 1}
    BackupSettings(**given).check()
    with pytest.raises(SettingsError, match=name.replace("_", "-")):
        BackupSettings(**given | {name: 0}).check()
