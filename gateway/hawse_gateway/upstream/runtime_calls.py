"""The calls that the gateway itself makes to runtimes, beside forwarding those of clients."""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

import msgspec

from hawse.api.runtime import RuntimeActivity, RuntimeActivityResult
from hawse.wire import HawseError
from hawse_gateway.auth.principals import GATEWAY
from hawse_gateway.upstream.call import UpstreamCall
from hawse_gateway.upstream.links import Links
from hawse_gateway.upstream.sandbox_link import SandboxLink

log = logging.getLogger(__name__)

ANSWER_TIMEOUT: Final = 5.0  # s for a runtime to answer


class LinkedRuntimeCalls:
    """Makes calls on links. `links` may be called while the application runs."""

    def __init__(self, links: Callable[[], Links]) -> None:
        self._links = links

    async def activity(self, sandbox: str, sleep_after: float) -> RuntimeActivityResult | None:
        """Ask a runtime for how long it has been idle; one that is idle for `sleep_after` refuses calls from then on.

        Returns:
            None if it did not answer.
        """
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT):
                params = RuntimeActivity(sleep_after=sleep_after)
                link = self._links().get(sandbox)
                async with UpstreamCall(link, "runtime.activity", params, principal=GATEWAY) as request:
                    result = msgspec.convert(await request.result(), RuntimeActivityResult)
                if result.asleep:
                    link.drop()  # the next call waits for the next runtime
                return result
        except (TimeoutError, HawseError, msgspec.MsgspecError) as error:
            log.info("! sandbox %s: activity: %r", sandbox, error, extra={"sandbox": sandbox})
            return None

    async def configure(self, sandbox: str) -> None:
        """Send the configuration of a sandbox that runs to its runtime.

        If there is no link, it is made: another gateway may have one, and would not send it.
        """
        links = self._links()
        link = links.get(sandbox)
        if not link.ready:
            await self._connect(link)  # which may have begun before the change
        await links.configure(sandbox)

    async def _connect(self, link: SandboxLink) -> None:
        """Make a link. If that is not possible, the next one begins with the configuration."""
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT):
                async with UpstreamCall(link, "runtime.activity", RuntimeActivity(), principal=GATEWAY) as request:
                    await request.result()
        except (TimeoutError, HawseError) as error:
            log.info("! sandbox %s: configuration: %r", link.sandbox, error)
