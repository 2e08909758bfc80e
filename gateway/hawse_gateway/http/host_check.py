"""Refuses requests for unknown host names to protect against DNS rebinding."""

import logging

from starlette.types import ASGIApp, Receive, Scope, Send

from hawse.wire import HawseError
from hawse_gateway.auth.access_policy import AccessPolicy
from hawse_gateway.http.responses import error_response

log = logging.getLogger(__name__)


class HostCheck:
    """ASGI middleware that refuses requests whose `Host` doesn't name this gateway. `/healthz` accepts any host."""

    def __init__(self, app: ASGIApp, access_policy: AccessPolicy) -> None:
        self._app = app
        self._access_policy = access_policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            if scope["type"] != "lifespan" and scope["path"] != "/healthz":
                self._access_policy.check_host(scope["headers"])
        except HawseError as error:
            log.info("< refused: %s", error, extra={"code": error.code})
            if scope["type"] == "websocket":
                await receive()
            await error_response(error)(scope, receive, send)
        else:
            await self._app(scope, receive, send)
