"""Checks at startup whether the cluster enforces NetworkPolicies, because some network plug-ins ignore them.

The probe is a pod that accepts connections, together with a NetworkPolicy that forbids them. If the gateway can connect
to the pod anyway, sandboxes are not separated from each other and from the cluster's networks.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from hawse.wire import HawseError
from hawse_gateway.providers.kubernetes import manifests
from hawse_gateway.providers.kubernetes.cluster import AlreadyExistsError, Cluster
from hawse_gateway.providers.kubernetes.objects import PODS
from hawse_gateway.providers.kubernetes.settings import KubernetesSettings

log = logging.getLogger(__name__)

POLL: Final = 1.0  # seconds between checks of the pod, and between connection attempts
CONNECT_TIMEOUT: Final = 1.0  # s
ATTEMPTS: Final = 8  # number of connection attempts; the last one decides, because applying a policy can take seconds
ENDED: Final = ("Succeeded", "Failed")

Connects = Callable[[str, int], Awaitable[bool]]  # returns whether a TCP connection to an address is accepted


async def connects(host: str, port: int) -> bool:
    try:
        async with asyncio.timeout(CONNECT_TIMEOUT):
            _, writer = await asyncio.open_connection(host, port)
    except OSError:  # includes TimeoutError
        return False
    writer.transport.abort()
    return True


class PolicyProbe:
    """Warns if a connection that a NetworkPolicy forbids is accepted."""

    def __init__(
        self, cluster: Cluster, settings: KubernetesSettings, *, connects: Connects = connects, poll: float = POLL
    ) -> None:
        """Create a probe.

        Args:
            cluster: The API.
            settings: The provider's settings. If `network_policies` is false, an administrator is responsible for the
                policies.
            connects: Makes one connection attempt.
            poll: Seconds between checks of the pod, and between connection attempts.
        """
        self._cluster = cluster
        self._settings = settings
        self._connects = connects
        self._poll = poll

    async def run(self) -> None:
        """Check once. Log a warning if the policies are not enforced, or a message if the check fails."""
        if not self._settings.network_policies:
            return
        try:
            async with asyncio.timeout(manifests.PROBE_SECONDS):
                if await self._reached():
                    log.warning("! the cluster does not enforce NetworkPolicies: sandboxes can reach all its networks")
        except AlreadyExistsError:
            log.info("= another gateway is checking whether the cluster enforces NetworkPolicies")
        except (HawseError, TimeoutError) as error:
            log.info("= cannot check whether the cluster enforces NetworkPolicies: %s", error)

    async def _reached(self) -> bool:
        """Return whether the gateway can connect to the pod, although the policy forbids it."""
        policy, manifest = manifests.probe(self._settings)
        await self._cluster.replace(policy)
        try:
            made = await self._cluster.create(manifest)
        except AlreadyExistsError:
            pod = await self._cluster.get(PODS, manifest["metadata"]["name"])
            if pod is not None and pod.status.phase in ENDED:
                await self._cluster.delete(PODS, pod)  # left by a gateway that was killed during its check
            raise
        try:
            host, reached = await self._running(manifest["metadata"]["name"]), False
            for _ in range(ATTEMPTS):
                await asyncio.sleep(self._poll)
                reached = await self._connects(host, manifests.PORT)
            return reached
        finally:
            await self._cluster.delete(PODS, made)

    async def _running(self, name: str) -> str:
        """Wait until the pod is running, and return its address. Raises `HawseError` (`unavailable`)."""
        while True:
            pod = await self._cluster.get(PODS, name)
            if pod is None or pod.status.phase in ENDED:
                raise HawseError("unavailable", "the pod for this check has ended")
            if pod.status.phase == "Running" and pod.address:
                return pod.address
            await asyncio.sleep(self._poll)
