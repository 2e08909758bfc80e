"""The HTTP feature: adds pages, sessions, recordings, a route for every method, and the middleware for all requests."""

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from hawse.rpc.shares import Shares
from hawse_gateway import VERSION
from hawse_gateway.audit.trail import AuditTrail
from hawse_gateway.auth.access_policy import AccessPolicy
from hawse_gateway.auth.credentials import Credentials
from hawse_gateway.auth.open_connections import OpenConnections
from hawse_gateway.auth.settings import AccessSettings
from hawse_gateway.auth.tickets import Tickets
from hawse_gateway.core.feature import Composition, Feature
from hawse_gateway.http import methods as rest
from hawse_gateway.http.context import RequestContexts
from hawse_gateway.http.cors import CrossOrigin
from hawse_gateway.http.endpoint import REQUESTS, HttpEndpoint, RequestAdmission
from hawse_gateway.http.host_check import HostCheck
from hawse_gateway.http.recordings import PATH, RecordingDownloads
from hawse_gateway.http.responses import json_response
from hawse_gateway.http.sessions import SessionEndpoints
from hawse_gateway.http.static import SecurityHeaders, StaticPages, pages
from hawse_gateway.limits.byte_rates import ByteRates
from hawse_gateway.preview.settings import PreviewSettings
from hawse_gateway.sign_on.feature import SignOn
from hawse_gateway.upstream.links import Links


def _build(gateway: Composition) -> None:
    """Build the feature. It must be the last one, because its routes match all remaining URLs."""
    access_policy = gateway.part(AccessPolicy)
    audit, links, sign_on = gateway.part(AuditTrail), gateway.part(Links), gateway.find(SignOn)
    shares = Shares(REQUESTS, "requests")
    gateway.connections += REQUESTS
    admission = RequestAdmission(access_policy, shares, gateway.part(OpenConnections), gateway.part(ByteRates))
    provider = None if sign_on is None else sign_on.name
    sessions = SessionEndpoints(access_policy, gateway.part(Credentials), gateway.part(Tickets), audit, provider)
    gateway.routes += [
        Route("/healthz", _health),
        *sessions.routes(),
        Route(PATH, HttpEndpoint(admission, RecordingDownloads(links).read, ticket=True), methods=["GET"]),
        *rest.routes(admission, links),
        Mount("/", gateway.find(StaticPages) or pages()),
    ]
    origins = tuple(gateway.part(AccessSettings).origins)
    gateway.middleware += [
        Middleware(RequestContexts, observer=audit),
        Middleware(SecurityHeaders, origins=origins, preview_host=gateway.part(PreviewSettings).preview_host),
        Middleware(HostCheck, access_policy=access_policy),
        Middleware(CrossOrigin, origins=origins),
    ]


async def _health(request: Request) -> Response:
    return json_response({"status": "ok", "version": VERSION})


HTTP = Feature("http", _build)
