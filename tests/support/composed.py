"""Builds the features of a gateway up to a given feature, with an in-memory store and without isolation."""

from pathlib import Path
from typing import Any

from hawse_gateway.app import FEATURES
from hawse_gateway.core.feature import Composition, Feature, compose
from hawse_gateway.core.settings import by_feature
from hawse_gateway.metrics.prometheus_text import Exposition
from hawse_gateway.providers.state_directory import StateDirectory
from hawse_gateway.settings import Settings
from hawse_gateway.store.base import Store
from tests.support.stores import MemoryStore

OWNER_TOKEN = "the token of the owner"


def composed(last: Feature, state: Path, given: dict[type[Any], object] | None = None, **settings: Any) -> Composition:
    """Build the features of a gateway up to `last`. Nothing is started."""
    options: dict[str, Any] = {"state": state, "token": OWNER_TOKEN, "isolation": "none"} | settings
    parts: dict[type[Any], object] = {
        **by_feature(Settings(**options)),
        StateDirectory: StateDirectory(state),
        Store: MemoryStore(),
    }
    return compose(FEATURES[: FEATURES.index(last) + 1], parts | (given or {}))


async def scraped(composition: Composition) -> str:
    """Return the content of `/metrics`."""
    out = Exposition()
    for collect in composition.metrics:
        await collect(out)
    return out.text()


def paths(composition: Composition) -> list[str]:
    """Return the paths of the routes, in order."""
    return [getattr(route, "path", "") for route in composition.routes]


def contributed(composition: Composition) -> set[type]:
    """Return the classes of the objects that handle methods."""
    return {type(methods) for methods in composition.methods}
