"""Declares settings and command-line options. Each feature declares its own in a module named `settings`.

`hawse_gateway.settings.Settings` combines the declarations, and `hawse serve` has an option for each field. These
modules must be fast to import, because `hawse serve --help` and the manual page need them.
"""

from dataclasses import dataclass
from typing import Any


class SettingsError(Exception):
    """Invalid settings. The message names the option and the allowed values."""


@dataclass(frozen=True)
class Option:
    """An option of `hawse serve`, set in a field's annotation: `port: Annotated[int, Option("--port", ...)] = 8080`.

    The type and the choices are derived from the annotation. An option for a sequence can be repeated, and an option
    for a `bool` takes no value.

    Attributes:
        name: The option, such as `--port`.
        help: The text shown by `hawse serve --help`.
        metavar: The placeholder for the value. None means the name of the type.
        environment: The environment variable that overrides the default, or None.
        most: The maximum for a number, checked when the option is parsed. With a maximum, the minimum is 0. None
            disables the check.
    """

    name: str
    help: str
    metavar: str | None = None
    environment: str | None = None
    most: int | None = None


class FeatureSettings:
    """The base class for features' settings, which are frozen dataclasses."""

    def check(self) -> None:
        """Raise `SettingsError` for invalid values. Overrides must call `super().check()`, which checks the other
        features' settings."""


def by_feature(settings: FeatureSettings) -> dict[type[Any], object]:
    """Return a dictionary that maps each settings class inherited by `settings` to `settings` itself."""
    return {kind: settings for kind in type(settings).__mro__ if issubclass(kind, FeatureSettings)}
