"""Settings for limits on users, links and addresses."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from hawse_gateway.core.settings import FeatureSettings, Option, SettingsError
from hawse_gateway.limits.quotas import Quotas


@dataclass(frozen=True, kw_only=True)
class LimitSettings(FeatureSettings):
    """Limits on users, links and addresses. Bursts of calls can be ten times as large as `calls_per_second`."""

    # The default is far more than a user or a typical program needs.
    calls_per_second: Annotated[
        int,
        Option(
            "--calls-per-second", "maximum number of calls per second for a user without every right (500)", metavar="N"
        ),
    ] = 500
    limit: Annotated[
        Sequence[str],
        Option(
            "--limit",
            "a limit for each user, link or address, such as link:bytes=2M: connections, terminals, calls or bytes "
            "(per second); or for each user: sandboxes, tunnels, backups or storage (bytes in backups); can be "
            "repeated (calls only)",
            metavar="WHO:WHAT=N",
        ),
    ] = ()
    # The default allows for many programs at one address that use an outdated token. Further attempts are limited to
    # one per second.
    wrong_tokens: Annotated[
        int,
        Option(
            "--wrong-tokens", "number of wrong tokens that an address can send before it has to wait (100)", metavar="N"
        ),
    ] = 100

    def quotas(self) -> Quotas:
        """Return the limits on users, links and addresses. Raises `SettingsError`."""
        calls = self.calls_per_second
        try:
            return Quotas.parse(self.limit, {("user", "calls"): calls, ("link", "calls"): calls})
        except ValueError as error:
            raise SettingsError(f"--limit {error}") from error

    def check(self) -> None:
        super().check()
        self.quotas()
        for name, value in (
            ("--calls-per-second", self.calls_per_second),
            ("--wrong-tokens", self.wrong_tokens),
        ):
            if value < 1:
                raise SettingsError(f"{name} must be at least 1, not {value}")
