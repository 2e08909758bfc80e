"""Settings for backups."""

from dataclasses import dataclass
from typing import Annotated, Final

from hawse_gateway.core.settings import FeatureSettings, Option, SettingsError

OF_ALL: Final = 100 << 30  # default maximum size of all backups, in bytes
OF_IMAGES: Final = 20 << 30  # default maximum size of all overlay images, in bytes


@dataclass(frozen=True, kw_only=True)
class BackupSettings(FeatureSettings):
    """The store for backups, and maximum sizes in bytes."""

    backups: Annotated[
        str | None,
        Option(
            "--backups",
            "the store for backups: a directory or s3://BUCKET/PREFIX (backups in the state directory)",
            metavar="PLACE",
        ),
    ] = None
    backups_size: Annotated[
        int, Option("--backups-size", "maximum total size of all backups (100 GiB)", metavar="BYTES")
    ] = OF_ALL
    overlays_size: Annotated[
        int, Option("--overlays-size", "maximum total size of backup images for overlays (20 GiB)", metavar="BYTES")
    ] = OF_IMAGES

    def check(self) -> None:
        super().check()
        for name, value in (("--backups-size", self.backups_size), ("--overlays-size", self.overlays_size)):
            if value < 1:
                raise SettingsError(f"{name} must be at least 1, not {value}")
