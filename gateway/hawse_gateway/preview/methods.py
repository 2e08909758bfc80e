"""The gateway's own methods. They use the same dispatcher as a runtime's methods (docs/decisions/0054)."""

from hawse.api.ports import PreviewHost, PreviewHostResult
from hawse.rpc import handles


class GatewayMethods:
    """Handlers for methods that are unrelated to sandboxes or access.

    Args:
        preview_host: The parent domain of preview host names.
    """

    def __init__(self, *, preview_host: str | None) -> None:
        self._preview_host = preview_host

    @handles(PreviewHost)
    async def preview_host(self, params: PreviewHost) -> PreviewHostResult:
        return PreviewHostResult(host=self._preview_host)
