"""The store feature: stores rows in SQLite in the state directory, or in Redis."""

from hawse_gateway.core.feature import Composition, Feature
from hawse_gateway.core.settings import SettingsError
from hawse_gateway.providers.state_directory import StateDirectory
from hawse_gateway.store.base import Store
from hawse_gateway.store.settings import StoreSettings
from hawse_gateway.store.sqlite import SqliteStore


def _build(gateway: Composition) -> None:
    """Build the store. The sandbox feature runs and closes it."""
    url = gateway.part(StoreSettings).store
    gateway.ensure(
        Store, lambda: SqliteStore(gateway.part(StateDirectory).root / "store.db") if url is None else _redis(url)
    )


def _redis(url: str) -> Store:
    from hawse_gateway.store.redis import RedisStore  # importing it takes 0.25 s of CPU time, and few gateways need it

    try:
        return RedisStore(url)
    except ValueError as error:
        raise SettingsError(f"--store: {error}") from error  # the URL is omitted because it can contain a password


STORE = Feature("store", _build)
