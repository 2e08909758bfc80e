"""The methods of the gateway itself. They run in the same dispatcher as those of a runtime (docs/decisions/0054)."""

from gateway.auth.principals import VIEWER, role_of
from gateway.providers.base import Provider
from hawse.api.gateway import (
    PreviewHost,
    PreviewHostResult,
    SandboxList,
    SandboxListResult,
    ShareToken,
    ShareTokenResult,
)
from hawse.rpc import handles
from hawse.wire import HawseError


class GatewayMethods:
    """The handlers.

    Args:
        provider: Lists the sandboxes.
        viewer_token: The token for read-only access; None if the gateway has none.
        preview_host: The name below which previews have host names of their own.
    """

    def __init__(self, provider: Provider, *, viewer_token: str | None, preview_host: str | None) -> None:
        self._provider = provider
        self._viewer_token = viewer_token
        self._preview_host = preview_host

    @handles(SandboxList)
    async def sandbox_list(self, params: SandboxList) -> SandboxListResult:
        return SandboxListResult(sandboxes=await self._provider.discover())

    @handles(ShareToken)
    async def share_token(self, params: ShareToken) -> ShareTokenResult:
        if self._viewer_token is None:
            raise HawseError("not_found", "this gateway has no token for read-only access")
        return ShareTokenResult(token=self._viewer_token, role=role_of(VIEWER))

    @handles(PreviewHost)
    async def preview_host(self, params: PreviewHost) -> PreviewHostResult:
        return PreviewHostResult(host=self._preview_host)
