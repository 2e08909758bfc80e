from dataclasses import dataclass
from typing import Annotated

import pytest

from hawse_gateway.core.settings import FeatureSettings, Option, SettingsError, by_feature


@dataclass(frozen=True, kw_only=True)
class Colours(FeatureSettings):
    colour: Annotated[str, Option("--colour", "the colour (blue)")] = "blue"

    def check(self) -> None:
        super().check()
        if self.colour not in ("blue", "green"):
            raise SettingsError(f"--colour {self.colour}")


@dataclass(frozen=True, kw_only=True)
class Sizes(FeatureSettings):
    size: Annotated[int, Option("--size", "the size (1)")] = 1


@dataclass(frozen=True, kw_only=True)
class All(Colours, Sizes):
    """Both."""


def test_combined_settings_are_a_part_of_each_feature() -> None:
    settings = All(size=2)
    assert by_feature(settings) == dict.fromkeys((All, Colours, Sizes, FeatureSettings), settings)


def test_each_feature_checks_its_settings() -> None:
    All(colour="green").check()
    with pytest.raises(SettingsError, match="--colour red"):
        All(colour="red").check()
