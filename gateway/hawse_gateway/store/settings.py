"""The settings for the store."""

from dataclasses import dataclass
from typing import Annotated, Final

from hawse_gateway.core.settings import FeatureSettings, Option, SettingsError

REDIS: Final = ("redis://", "rediss://", "redis+sentinel://", "unix://")


@dataclass(frozen=True, kw_only=True)
class StoreSettings(FeatureSettings):
    """Settings for the store. If no Redis server is set, rows are stored with SQLite in the state directory."""

    store: Annotated[
        str | None,
        Option(
            "--store",
            "a Redis server shared by several gateways: redis://HOST:6379/0 or redis+sentinel://HOST/NAME/0 (SQLite in "
            "the state directory)",
            metavar="URL",
            environment="HAWSE_STORE",
        ),
    ] = None

    def check(self) -> None:
        super().check()
        if self.store is not None and not self.store.startswith(REDIS):
            # The message omits the value, because it can contain a password.
            raise SettingsError(f"--store: expected a URL that starts with {', '.join(REDIS)}")
