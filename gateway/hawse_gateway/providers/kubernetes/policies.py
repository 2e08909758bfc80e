"""The NetworkPolicies of an instance: created before the first pod, and restored if they are deleted or changed."""

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

INTERVAL: Final = 30.0  # s until they are applied again: pods run for a long time
FRESH: Final = 60.0  # s after applying them that a start need not apply them again


class Policies:
    """Applies the policies. This changes nothing if they are correct."""

    def __init__(self, cluster: Cluster, settings: KubernetesSettings, *, interval: float = INTERVAL) -> None:
        """Do nothing until `ensure` or `run`.

        Args:
            cluster: The API.
            settings: The contents of the policies, and whether to create them.
            interval: Seconds until they are applied again.
        """
        self._cluster = cluster
        self._settings = settings
        self._interval = interval
        self._applied: float | None = None
        self._applying = asyncio.Lock()

    async def ensure(self) -> None:
        """Apply the policies before a start, unless `run` does. Raises `HawseError` (`unavailable`)."""
        async with self._applying:
            if self._applied is None or time.monotonic() - self._applied > FRESH:
                await self._apply()

    async def run(self) -> None:
        """Apply the policies periodically, once there are any, until cancelled."""
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
