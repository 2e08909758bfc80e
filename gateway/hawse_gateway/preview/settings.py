"""The settings for previews."""

import re
from dataclasses import dataclass
from typing import Annotated, Final

from hawse_gateway.core.settings import FeatureSettings, Option, SettingsError

# The limit on the length leaves space for a first label of 63 characters, because host names have at most 253.
_NAME: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,187}[A-Za-z0-9])?")


@dataclass(frozen=True, kw_only=True)
class PreviewSettings(FeatureSettings):
    """The host names for previews. If `preview_host` is None, previews have only path-based addresses."""

    preview_host: Annotated[
        str | None,
        Option(
            "--preview-host",
            "parent domain of previews at PORT-SANDBOX-TOKEN.NAME; all names below NAME must resolve to the gateway "
            "(localhost)",
            metavar="NAME",
        ),
    ] = "localhost"

    def check(self) -> None:
        super().check()
        if self.preview_host is not None and not _NAME.fullmatch(self.preview_host):
            raise SettingsError(f"--preview-host {self.preview_host}: expected a name such as previews.example.org")
