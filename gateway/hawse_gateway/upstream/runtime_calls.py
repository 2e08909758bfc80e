"""Calls to runtimes that the gateway makes itself, instead of forwarding them for clients."""

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

ANSWER_TIMEOUT: Final = 5.0  # s for a runtime to respond


class LinkedRuntimeCalls:
    """Makes calls on links."""

    def __init__(self, links: Links) -> None:
        self._links = links

    async def activity(
        self, sandbox: str, sleep_after: float | None = None, *, timeout: float = ANSWER_TIMEOUT
    ) -> RuntimeActivityResult | None:
        """Ask a runtime for its activity and its previews.

        Args:
            sandbox: The id of the sandbox.
            sleep_after: Seconds; a runtime that has been idle for this long refuses calls from now on.
            timeout: Seconds to wait for the answer.

        Returns:
            None if it did not respond.
        """
        try:
            async with asyncio.timeout(timeout):
                params = RuntimeActivity(sleep_after=sleep_after)
                link = self._links.get(sandbox)
                async with UpstreamCall(link, "runtime.activity", params, principal=GATEWAY) as request:
                    result = msgspec.convert(await request.result(), RuntimeActivityResult)
                if result.asleep:
                    link.drop()  # the next call waits for the next runtime
                return result
        except (TimeoutError, HawseError, msgspec.MsgspecError) as error:
            log.info("! sandbox %s: activity: %r", sandbox, error, extra={"sandbox": sandbox})
            return None

    async def configure(self, sandbox: str) -> None:
        """Send the configuration of a running sandbox to its runtime.

        If there is no link, connect one: another gateway may have a link, but would not send the configuration.
        """
        link = self._links.get(sandbox)
        if not link.ready:
            await self._connect(link)  # a connection attempt may have started before the change
        await self._links.configure(sandbox)

    async def _connect(self, link: SandboxLink) -> None:
        """Connect a link. If that fails, the next link starts with the configuration."""
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT):
                async with UpstreamCall(link, "runtime.activity", RuntimeActivity(), principal=GATEWAY) as request:
                    await request.result()
        except (TimeoutError, HawseError) as error:
            log.info("! sandbox %s: configuration: %r", link.sandbox, error)
