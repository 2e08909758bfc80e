import pytest

from hawse_gateway.connection.settings import ConnectionSettings
from hawse_gateway.core.settings import SettingsError


def test_there_is_at_least_one_connection() -> None:
    ConnectionSettings(max_connections=1).check()
    with pytest.raises(SettingsError, match="--max-connections"):
        ConnectionSettings(max_connections=0).check()
