import pytest

from hawse_gateway.core.settings import SettingsError
from hawse_gateway.store.settings import StoreSettings


def test_a_store_is_a_redis_server() -> None:
    for url in ("redis://127.0.0.1", "redis+sentinel://127.0.0.1/name"):
        StoreSettings(store=url).check()
    with pytest.raises(SettingsError, match="--store: expected a URL that starts with redis://") as refused:
        StoreSettings(store="mysql://:secret@host").check()
    assert "secret" not in str(refused.value)
