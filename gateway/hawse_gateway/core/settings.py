"""How features declare their settings, each in the module `settings` beside its `feature.py`.

`hawse_gateway.settings.Settings` combines the declarations, and `hawse serve` has an option for each. These modules
import nothing that takes long, since `hawse serve --help` and the manual page need them.
"""

from dataclasses import dataclass
from typing import Any


class SettingsError(Exception):
    """Invalid settings. The message names the option and its allowed values."""


@dataclass(frozen=True)
class Option:
    """An option of `hawse serve`, in the annotation of its field: `port: Annotated[int, Option("--port", ...)] = 8080`.

    Its type and choices follow from the annotation: a sequence can be repeated, a `bool` takes no value.

    Attributes:
        name: The option, such as `--port`.
        help: Its line in `hawse serve --help`.
        metavar: The placeholder of its value. None: the name of its type.
        environment: The environment variable that sets its default, if any.
        most: The maximum of a number that is at least 0, checked as the option is parsed. None: not checked.
    """

    name: str
    help: str
    metavar: str | None = None
    environment: str | None = None
    most: int | None = None


class FeatureSettings:
    """The base class of the settings of a feature, which are frozen dataclasses."""

    def check(self) -> None:
        """Raise `SettingsError` for values that are not allowed. Overrides first call `super().check()`, which checks
        the settings of other features."""


def by_feature(settings: FeatureSettings) -> dict[type[Any], object]:
    """Return combined settings as a part of a composition for each feature that declares some of them."""
    return {kind: settings for kind in type(settings).__mro__ if issubclass(kind, FeatureSettings)}
