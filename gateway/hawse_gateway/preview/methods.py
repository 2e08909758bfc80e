"""The methods of the gateway itself. They run in the same dispatcher as those of a runtime (docs/decisions/0054)."""

from hawse.api.ports import PreviewHost, PreviewHostResult
from hawse.rpc import handles


class GatewayMethods:
    """The handlers of the methods that concern no sandbox and no access.

    Args:
        preview_host: The name below which previews have host names of their own.
    """

    def __init__(self, *, preview_host: str | None) -> None:
        self._preview_host = preview_host

    @handles(PreviewHost)
    async def preview_host(self, params: PreviewHost) -> PreviewHostResult:
        return PreviewHostResult(host=self._preview_host)
