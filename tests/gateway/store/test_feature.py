from pathlib import Path

import pytest

from hawse_gateway.core.feature import compose
from hawse_gateway.core.settings import SettingsError
from hawse_gateway.providers.state_directory import StateDirectory
from hawse_gateway.store.base import Store
from hawse_gateway.store.feature import STORE
from hawse_gateway.store.redis import RedisStore
from hawse_gateway.store.settings import StoreSettings
from hawse_gateway.store.sqlite import SqliteStore


async def store(state: Path, url: str | None) -> Store:
    composition = compose([STORE], {StoreSettings: StoreSettings(store=url), StateDirectory: StateDirectory(state)})
    found = composition.part(Store)
    await found.close()
    return found


async def test_the_store_is_in_the_state_directory_or_at_a_redis_server(tmp_path: Path) -> None:
    assert isinstance(await store(tmp_path, None), SqliteStore)
    assert (tmp_path / "store.db").is_file()
    assert isinstance(await store(tmp_path, "redis://127.0.0.1:1"), RedisStore)


async def test_a_redis_server_without_a_valid_address_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="--store: "):
        await store(tmp_path, "redis+sentinel://:secret@")
