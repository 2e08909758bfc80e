"""The preview feature: lets browsers access programs in sandboxes through previews and tunnels."""

from starlette.middleware import Middleware

from hawse_gateway.audit.trail import AuditTrail
from hawse_gateway.auth.access_policy import AccessPolicy
from hawse_gateway.core.feature import Composition, Feature
from hawse_gateway.limits.byte_rates import ByteRates
from hawse_gateway.limits.quotas import HeldLimit
from hawse_gateway.preview.addresses import PreviewAddresses
from hawse_gateway.preview.ingress import Ingress
from hawse_gateway.preview.methods import GatewayMethods
from hawse_gateway.preview.proxy import AT_ONCE, PreviewProxy
from hawse_gateway.preview.settings import PreviewSettings
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.store.base import Store
from hawse_gateway.tunnels.table import TunnelTable
from hawse_gateway.upstream.links import Links


def _build(gateway: Composition) -> None:
    host = gateway.part(PreviewSettings).preview_host
    tunnels = gateway.add(TunnelTable(gateway.part(Store)))
    ingress = gateway.add(
        Ingress(
            gateway.part(Sandboxes),
            gateway.part(Links),
            tunnels,
            byte_rates=gateway.part(ByteRates),
            connections=gateway.part(HeldLimit),
            audit=gateway.part(AuditTrail),
        )
    )
    gateway.methods.append(GatewayMethods(preview_host=host))
    gateway.running.append(tunnels.running())
    gateway.connections += AT_ONCE
    gateway.middleware.append(
        Middleware(
            PreviewProxy,
            access_policy=gateway.part(AccessPolicy),
            ingress=ingress,
            tunnels=tunnels,
            addresses=PreviewAddresses(host),
        )
    )


PREVIEWS = Feature("previews", _build)
