"""The gateway as an ASGI application, composed of its features."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.applications import Starlette

from hawse_gateway.audit.feature import AUDIT
from hawse_gateway.auth.feature import ACCESS, CREDENTIALS
from hawse_gateway.backups.feature import BACKUPS
from hawse_gateway.connection.feature import CONNECT, JOIN
from hawse_gateway.core.feature import Composition, Feature, compose
from hawse_gateway.core.settings import by_feature
from hawse_gateway.http.feature import HTTP
from hawse_gateway.limits.feature import LIMITS, SHARED_LIMITS
from hawse_gateway.metrics.feature import METRICS, SPANS
from hawse_gateway.mounts.feature import MOUNTS
from hawse_gateway.preview.feature import PREVIEWS
from hawse_gateway.sandboxes.feature import SANDBOX_METHODS, SANDBOXES
from hawse_gateway.settings import Settings
from hawse_gateway.sign_on.feature import SIGN_ON
from hawse_gateway.store.feature import STORE
from hawse_gateway.tunnels.feature import TUNNELS
from hawse_gateway.upstream.links import Links

# All features of a gateway, in startup order. A feature only uses parts provided by earlier features.
FEATURES: Final[tuple[Feature, ...]] = (
    STORE,
    LIMITS,
    AUDIT,
    SPANS,
    CREDENTIALS,
    SANDBOXES,
    ACCESS,
    SHARED_LIMITS,
    CONNECT,
    JOIN,
    PREVIEWS,
    TUNNELS,
    MOUNTS,
    BACKUPS,
    SANDBOX_METHODS,
    SIGN_ON,
    METRICS,
    HTTP,  # must be the last feature, because its routes match all remaining paths
)


@dataclass(frozen=True)
class GatewayApp:
    """A gateway.

    Attributes:
        asgi: The application. Its lifespan starts and stops the features.
        composition: The gateway's parts.
    """

    asgi: Starlette
    composition: Composition


def create_app(
    settings: Settings, given: Mapping[type[Any], object], features: Iterable[Feature] = FEATURES
) -> GatewayApp:
    """Build a gateway from its features.

    Args:
        settings: The gateway's settings, which must be valid.
        given: Parts to use instead of those that the features would build, keyed by type. Must include
            `StateDirectory`.
        features: The features to include.

    Raises:
        SettingsError, StateError, ProviderError, StoreError, TemplateError, EgressSettingsError: The settings can't be
            used.
    """
    composition = compose(features, {**by_feature(settings), **given})
    dispatcher = composition.part(Links).dispatcher
    for methods in composition.methods:
        dispatcher.add(methods)

    asgi = Starlette(
        routes=composition.routes, middleware=composition.middleware, lifespan=lambda _: composition.started()
    )
    return GatewayApp(asgi, composition)
