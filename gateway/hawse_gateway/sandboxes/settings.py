"""The settings for sandboxes that apply to all providers."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from hawse.code_pool import parse_pools
from hawse_gateway.core.settings import FeatureSettings, Option, SettingsError

IDLE_TIMEOUT: Final = 600.0  # default idle timeout for new sandboxes, in seconds


@dataclass(frozen=True, kw_only=True)
class CapacitySettings(FeatureSettings):
    """The maximum number of running sandboxes. If None, only memory and disk space limit their number."""

    max_sandboxes: Annotated[
        int | None,
        Option("--max-sandboxes", "maximum number of running sandboxes (limited by memory and disk)", metavar="N"),
    ] = None

    def check(self) -> None:
        super().check()
        if self.max_sandboxes is not None and self.max_sandboxes < 1:
            raise SettingsError(f"--max-sandboxes must be at least 1, not {self.max_sandboxes}")


@dataclass(frozen=True, kw_only=True)
class SandboxSettings(FeatureSettings):
    """Templates, defaults and limits for sandboxes."""

    pool: Annotated[int, Option("--pool", "number of sandboxes to start in advance (0)", metavar="N")] = 0
    templates: Annotated[
        Path | None, Option("--templates", "the TOML file with sandbox templates (none)", metavar="FILE")
    ] = None
    idle_timeout: Annotated[
        float,
        Option(
            "--idle-timeout",
            "default time without activity before a sandbox sleeps (600)",
            metavar="SECONDS",
        ),
    ] = IDLE_TIMEOUT
    start_timeout: Annotated[
        float | None,
        Option(
            "--start-timeout",
            "maximum time for a sandbox's runtime to start and accept connections (local: 9, docker: 30, "
            "kubernetes: 300)",
            metavar="SECONDS",
        ),
    ] = None
    quota: Annotated[
        int | None,
        Option("--quota", "maximum size of a workspace for writes through the API (unlimited)", metavar="BYTES"),
    ] = None
    max_contexts: Annotated[
        int | None,
        Option("--max-contexts", "maximum number of code contexts per language in a sandbox (unlimited)", metavar="N"),
    ] = None
    code_pool: Annotated[
        Sequence[str],
        Option(
            "--code-pool",
            "code executors that each sandbox keeps ready: [LANGUAGE:]size=N,idle=SECONDS,memory=BYTES; can be "
            "repeated (size=2,idle=600,memory=512M)",
            metavar="TEXT",
        ),
    ] = ()

    def check(self) -> None:
        super().check()
        if self.pool < 0:
            raise SettingsError(f"--pool must be at least 0, not {self.pool}")
        if self.idle_timeout <= 0:
            raise SettingsError(f"--idle-timeout must be above 0, not {self.idle_timeout:g}")
        if self.start_timeout is not None and self.start_timeout <= 0:
            raise SettingsError(f"--start-timeout must be above 0, not {self.start_timeout:g}")
        if self.quota is not None and self.quota < 1:
            raise SettingsError(f"--quota must be at least 1 byte, not {self.quota}")
        if self.max_contexts is not None and self.max_contexts < 1:
            raise SettingsError(f"--max-contexts must be at least 1, not {self.max_contexts}")
        try:
            parse_pools(self.code_pool)
        except ValueError as error:
            raise SettingsError(f"--code-pool {error}") from error
