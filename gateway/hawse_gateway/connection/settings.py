"""Settings for client connections."""

from dataclasses import dataclass, field
from typing import Annotated

from hawse.wire import Limits
from hawse_gateway.core.settings import FeatureSettings, Option, SettingsError


@dataclass(frozen=True, kw_only=True)
class ConnectionSettings(FeatureSettings):
    """Limits on connections. The field `limits`, which is announced in `welcome`, has no command-line option."""

    max_connections: Annotated[
        int, Option("--max-connections", "maximum number of connected clients (1024)", metavar="N")
    ] = 1024
    limits: Limits = field(default_factory=Limits)

    def check(self) -> None:
        super().check()
        if self.max_connections < 1:
            raise SettingsError(f"--max-connections must be at least 1, not {self.max_connections}")
