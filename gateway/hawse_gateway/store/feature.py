"""The store feature: stores rows in SQLite in the state directory, or in Redis."""

from hawse_gateway.core.feature import Composition, Feature
from hawse_gateway.core.settings import SettingsError
from hawse_gateway.metrics.prometheus_text import Exposition, Family, Histogram
from hawse_gateway.providers.state_directory import StateDirectory
from hawse_gateway.store.base import Store
from hawse_gateway.store.operations import StoreOperations
from hawse_gateway.store.settings import StoreSettings
from hawse_gateway.store.sqlite import SqliteStore


def _build(gateway: Composition) -> None:
    """Build the store. The sandbox feature runs and closes the store."""
    url, operations = gateway.part(StoreSettings).store, StoreOperations()

    def build() -> Store:
        if url is not None:
            return _redis(url, operations)
        return SqliteStore(gateway.part(StateDirectory).root / "store.db", operations=operations)

    async def collect(out: Exposition) -> None:
        family = Family("hawse_store_seconds", "histogram", "Duration of store operations.")
        seconds = operations.seconds
        out.add(family, [({}, Histogram(seconds.bounds, seconds.counts, seconds.total))])
        failed = Family("hawse_store_errors_total", "counter", "Operations that failed: store unavailable.")
        out.add(failed, [({}, operations.failed)])

    gateway.ensure(Store, build)
    gateway.metrics.append(collect)


def _redis(url: str, operations: StoreOperations) -> Store:
    from hawse_gateway.store.redis import RedisStore  # imported on demand, because this takes 0.25 s of CPU time

    try:
        return RedisStore(url, operations=operations)
    except ValueError as error:
        raise SettingsError(f"--store: {error}") from error  # the URL is omitted because it can contain a password


STORE = Feature("store", _build)
