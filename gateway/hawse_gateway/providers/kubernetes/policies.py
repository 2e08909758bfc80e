"""Applies an instance's NetworkPolicies before creating the first pod, and restores deleted or changed policies."""

import asyncio
import logging
import time
from typing import Final

from hawse.wire import HawseError
from hawse_gateway.core.cancellation import cancellation_kept
from hawse_gateway.providers.kubernetes import manifests
from hawse_gateway.providers.kubernetes.cluster import Cluster
from hawse_gateway.providers.kubernetes.settings import KubernetesSettings

log = logging.getLogger(__name__)

INTERVAL: Final = 30.0  # seconds between applications of the policies
FRESH: Final = 60.0  # a start applies the policies again if they are older than this, in seconds


class Policies:
    """Applies an instance's NetworkPolicies."""

    def __init__(self, cluster: Cluster, settings: KubernetesSettings, *, interval: float = INTERVAL) -> None:
        """Create an instance without applying the policies.

        Args:
            cluster: The API.
            settings: The settings for the policies, including whether to apply them.
            interval: Seconds between applications of the policies.
        """
        self._cluster = cluster
        self._settings = settings
        self._interval = interval
        self._applied: float | None = None
        self._applying = asyncio.Lock()

    async def ensure(self) -> None:
        """Apply the policies, unless they were applied recently. Raises `HawseError` (`unavailable`)."""
        async with self._applying:
            if self._applied is None or time.monotonic() - self._applied > FRESH:
                await self._apply()

    async def run(self) -> None:
        """After the first `ensure`, apply the policies periodically until cancelled."""
        while True:
            await asyncio.sleep(self._interval)
            try:
                with cancellation_kept():
                    async with self._applying:
                        if self._applied is not None:
                            await self._apply()
            except HawseError as error:
                log.warning("! cannot apply the NetworkPolicies: %s", error)

    async def _apply(self) -> None:
        if self._settings.network_policies:
            for policy in manifests.policies(self._settings):
                await self._cluster.replace(policy)
        self._applied = time.monotonic()
