"""The gateway's own calls to runtimes, used for sleeping and configuration."""

import asyncio
import logging
from typing import Final

import msgspec

from hawse.api.runtime import RuntimeActivity, RuntimeActivityResult
from hawse.wire import HawseError
from hawse_gateway.auth.principals import GATEWAY
from hawse_gateway.upstream.call import UpstreamCall
from hawse_gateway.upstream.links import Links
from hawse_gateway.upstream.sandbox_link import SandboxLink

log = logging.getLogger(__name__)

ANSWER_TIMEOUT: Final = 5.0  # seconds to wait for a runtime to respond


class LinkedRuntimeCalls:
    """Calls runtimes through their links."""

    def __init__(self, links: Links) -> None:
        self._links = links

    async def activity(
        self, sandbox: str, sleep_after: float | None = None, *, timeout: float = ANSWER_TIMEOUT
    ) -> RuntimeActivityResult | None:
        """Query a runtime's activity and previews.

        Args:
            sandbox: The sandbox's id.
            sleep_after: If the runtime has been idle for this many seconds, it starts refusing calls.
            timeout: Seconds to wait for a response.

        Returns:
            The response, or None if the runtime did not respond.
        """
        try:
            async with asyncio.timeout(timeout):
                params = RuntimeActivity(sleep_after=sleep_after)
                link = self._links.get(sandbox)
                async with UpstreamCall(link, "runtime.activity", params, principal=GATEWAY) as request:
                    result = msgspec.convert(await request.result(), RuntimeActivityResult)
                if result.asleep:
                    link.drop()  # this runtime refuses calls now; the next call waits for a new one
                return result
        except (TimeoutError, HawseError, msgspec.MsgspecError) as error:
            log.info("! sandbox %s: activity: %r", sandbox, error, extra={"sandbox": sandbox})
            return None

    async def configure(self, sandbox: str) -> None:
        """Send a running sandbox's configuration to its runtime.

        If this gateway has no link to the sandbox, connect one. A link from another gateway isn't enough, because the
        other gateway doesn't send the change.
        """
        link = self._links.get(sandbox)
        if not link.ready:
            await self._connect(link)  # the link may already be connecting with the old configuration
        await self._links.configure(sandbox)

    async def _connect(self, link: SandboxLink) -> None:
        """Connect a link. If connecting fails, the next link will send the configuration."""
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT):
                async with UpstreamCall(link, "runtime.activity", RuntimeActivity(), principal=GATEWAY) as request:
                    await request.result()
        except (TimeoutError, HawseError) as error:
            log.info("! sandbox %s: configuration: %r", link.sandbox, error)
