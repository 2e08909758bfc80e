"""The Kubernetes provider: a sandbox is a pod with a volume claim for its files.

A pod only exists while its sandbox runs. `start` creates it. `stop` deletes it, and waits until the cluster has
confirmed that its containers have ended. Each pod is named after its unit, so the cluster refuses a second pod for the
same unit.
"""

import asyncio
import logging
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, Literal, TypeVar

from lightkube.resources.core_v1 import Secret

from hawse.api.sandboxes import Enforcement, Network
from hawse.wire import HawseError
from hawse_gateway.core.turns import turns
from hawse_gateway.providers.base import (
    Capabilities,
    Endpoint,
    MountPlace,
    Observation,
    Progress,
    Report,
    SandboxSpec,
    TcpAddress,
)
from hawse_gateway.providers.kubernetes import manifests, pod_state
from hawse_gateway.providers.kubernetes.certificate import make_certificate
from hawse_gateway.providers.kubernetes.cluster import AlreadyExistsError, Cluster
from hawse_gateway.providers.kubernetes.informer import Informer
from hawse_gateway.providers.kubernetes.manifests import PORT, PodStart
from hawse_gateway.providers.kubernetes.objects import CLAIMS, PODS, Kind, ObjectSummary, PodSummary
from hawse_gateway.providers.kubernetes.policies import Policies
from hawse_gateway.providers.kubernetes.policy_probe import PolicyProbe
from hawse_gateway.providers.kubernetes.settings import KubernetesSettings
from hawse_gateway.providers.pinned import pinned_context

log = logging.getLogger(__name__)

SYNC_TIMEOUT: Final = 15.0  # seconds to wait until all objects have been listed once
NOTICE_TIMEOUT: Final = 30.0  # seconds to wait for a node to notice a new pod; an idle node takes 0.1 s
STOP_TIMEOUT: Final = 45.0  # seconds to wait for a pod to end; if it doesn't end, the driver retries later
LOOK: Final = 1.0  # seconds between checks of an object that is being deleted
POLL_MIN: Final = 0.01  # seconds between connection attempts
POLL_MAX: Final = 0.2
RETRY_AFTER: Final = 30.0  # seconds that a client should wait before it retries if no node has enough resources
LIMITS: Final = ("memory", "cpus", "disk")

O = TypeVar("O", bound=ObjectSummary)  # noqa: E741


class KubernetesProvider:
    """An instance's units in one namespace."""

    images = None  # not needed, because nodes pull images
    egress: None = None

    def __init__(
        self,
        settings: KubernetesSettings,
        *,
        network: Network = "private",
        arguments: Sequence[str] = (),
        cluster: Cluster | None = None,
    ) -> None:
        """Create the provider without contacting the cluster.

        Args:
            settings: The settings, such as where to create pods and the pod template.
            network: The default network for sandboxes.
            arguments: Additional arguments for runtimes.
            cluster: The cluster's API. Defaults to the cluster in the kubeconfig.

        Raises:
            ProviderError: There is no usable kubeconfig.
        """
        self._settings = settings
        self._network: Network = network
        self._arguments = list(arguments)
        self._cluster = cluster or Cluster(settings)
        self._pods = Informer(self._cluster.objects(PODS))
        self._claims = Informer(self._cluster.objects(CLAIMS))
        self._policies = Policies(self._cluster, settings)
        self._probe = PolicyProbe(self._cluster, settings)

    async def run(self) -> None:
        """Follow the instance's pods and claims, and maintain its policies, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._pods.run(), name="watch pods")
            tasks.create_task(self._claims.run(), name="watch claims")
            tasks.create_task(self._policies.run(), name="keep policies")
            tasks.create_task(self._probe.run(), name="check policies")

    async def capabilities(self) -> Capabilities:
        others: list[Network] = ["private", "host"]
        others.remove(self._network)
        return Capabilities(
            provider="kubernetes",
            isolation="kubernetes",
            images=True,
            networks=(self._network, *others),
            refused={"filtered": "the gateway's proxy cannot accept connections in pods, which run on other machines"},
            limits=LIMITS,
            enforcement=Enforcement(network=self._network, system_calls=True, memory_files=True),
            remote=True,
            start_timeout=self._settings.schedule_timeout + self._settings.start_timeout,
        )

    async def create(self, unit: str, spec: SandboxSpec, report: Report) -> None:
        if spec.image_command:
            message = "the Kubernetes provider cannot run an image's command"
            raise HawseError("invalid_params", message, details={"path": "$.image_command"})
        report(Progress(phase="creating"))
        await self._policies.ensure()
        if self._settings.workspace == "claim":
            claim = manifests.claim(unit, spec, self._settings)
            try:
                await self._cluster.create(claim)
            except AlreadyExistsError:
                if await self._claim_has_gone(unit):
                    with suppress(AlreadyExistsError):
                        await self._cluster.create(claim)

    async def start(self, unit: str, spec: SandboxSpec, runtime: str, report: Report) -> Endpoint:
        network = spec.network or self._network
        made, token = make_certificate(f"hawse {runtime}"), secrets.token_hex(16)
        start = PodStart(runtime=runtime, network=network, arguments=self._arguments)
        manifest = manifests.pod(unit, spec, start, self._settings)
        try:
            pod = await self._cluster.create(manifest)
        except AlreadyExistsError:
            await self._remove_ended(unit)
            try:
                pod = await self._cluster.create(manifest)
            except AlreadyExistsError as error:
                raise HawseError("unavailable", "another pod of this sandbox has not ended yet") from error
        log.info("= unit %s: pod %s", unit, pod.name, extra={"sandbox": unit})
        # The pod owns the secret, so that the cluster deletes both together. The secret can be created after the pod,
        # because the container only needs it once the runtime's bundle has been installed.
        secret = manifests.secret(unit, runtime, token, made, self._settings)
        await self._cluster.create(manifests.owned(secret, pod.name, pod.uid))
        host = await self._wait_until_it_runs(pod, spec.image or self._settings.image, report)
        report(Progress(phase="connecting"))
        endpoint = Endpoint(TcpAddress(host, PORT), token, certificate=made.certificate)
        await self._wait_until_it_accepts(pod, endpoint)
        return endpoint

    async def stop(self, unit: str, runtime: str | None = None) -> None:
        name = self._name(unit)
        found = await self._cluster.get(PODS, name)
        if found is not None and (runtime is None or found.runtime == runtime):
            await self._cluster.delete(PODS, found)
            await self._wait_until_gone(PODS, found, self._pods)
            runtime = runtime or found.runtime
        if runtime:  # the cluster also deletes the secret, but possibly later if its API server has failed
            await self._cluster.delete_named(Secret, manifests.secret_name(self._settings.instance, unit, runtime))
        log.info("= unit %s stopped", unit, extra={"sandbox": unit})

    async def _claim_has_gone(self, unit: str) -> bool:
        """Wait until the claim is gone if it is being deleted. Return whether there is no claim."""
        found = await self._cluster.get(CLAIMS, self._name(unit))
        if found is None or not found.ending:
            return found is None
        await self._wait_until_gone(CLAIMS, found, self._claims)
        return True

    async def _remove_ended(self, unit: str) -> None:
        """Remove a pod if it has ended, for example a pod left over after the store was lost. Keep a running pod."""
        found = await self._cluster.get(PODS, self._name(unit))
        if found is not None and pod_state.has_ended(found):
            await self.stop(unit, found.runtime)

    async def delete(self, unit: str) -> None:
        await self.stop(unit)
        name = self._name(unit)
        found = await self._cluster.get(CLAIMS, name)
        if found is not None:
            await self._cluster.delete(CLAIMS, found)
            await self._wait_until_gone(CLAIMS, found, self._claims)

    async def pause(self, unit: str) -> None:
        raise HawseError("invalid_params", "the Kubernetes provider cannot suspend sandboxes")

    async def resume(self, unit: str) -> None:
        raise HawseError("invalid_params", "the Kubernetes provider cannot suspend sandboxes")

    async def observe(self, unit: str, runtime: str | None = None) -> Observation:
        """Return the most recently reported state, so that running sandboxes stay usable while the cluster is
        unreachable.

        If the unit isn't running or has a different runtime id, the state is looked up, because a start by another
        gateway may not have been reported yet.
        """
        await self._synchronized()
        name = self._name(unit)
        exists, reported = name in self._claims.objects, self._pods.objects.get(name)
        seen = self._observation(unit, reported, exists=exists)
        if seen.state in ("running", "frozen") and runtime in (None, seen.runtime):
            return seen
        return self._observation(unit, await self._cluster.get(PODS, name), exists=exists, last=reported)

    async def discover(self) -> list[Observation]:
        await self._synchronized()
        if not (self._pods.current and self._claims.current):
            raise HawseError("unavailable", "the cluster is not reporting changes")
        pods, claims = self._pods.objects, self._claims.objects
        found: list[Observation] = []
        async for turn in turns([*pods, *(name for name in claims if name not in pods)]):
            for name in turn:
                if (each := pods.get(name) or claims.get(name)) is not None:  # skips objects removed in the meantime
                    found.append(self._observation(each.unit, pods.get(name), exists=name in claims))
        return found

    async def mount_place(self, unit: str) -> MountPlace:
        text = "mounts are not supported in pods, which run on other machines: mount volumes with the pod template"
        raise HawseError("unavailable", text, retryable=False)

    async def close(self) -> None:
        await self._cluster.close()

    # ---- state

    def _name(self, unit: str) -> str:
        return manifests.object_name(self._settings.instance, unit)

    async def _synchronized(self) -> None:
        """Wait until all objects have been listed once. Raises `HawseError` (`unavailable`)."""
        try:
            async with asyncio.timeout(SYNC_TIMEOUT):
                for informer in (self._pods, self._claims):
                    await informer.until(lambda informer=informer: informer.listed or None)  # type: ignore[misc]
        except TimeoutError:
            raise HawseError("unavailable", "the cluster has not responded yet") from None

    def _observation(
        self, unit: str, pod: PodSummary | None, *, exists: bool, last: PodSummary | None = None
    ) -> Observation:
        """Describe a unit based on its pod. If there is no pod, take the reason from the removed pod or from `last`."""
        if pod is None or (pod_state.has_ended(pod) and not pod_state.is_ending(pod)):
            last = pod or self._pods.removed.get(self._name(unit)) or last
            reason = None if last is None else pod_state.end_reason(last)
            state: Literal["stopped", "absent"] = "stopped" if exists or pod is not None else "absent"
            return Observation(unit=unit, state=state, reason=reason, keeps=exists)
        runtime = pod.runtime
        host = pod_state.address(pod)
        if host is None:
            reason = pod_state.end_reason(pod) if pod_state.is_ending(pod) else "the pod is not running yet"
            return self._seen(unit, "unreachable", runtime, keeps=exists, reason=reason)
        endpoint = Endpoint(TcpAddress(host, PORT))
        if pod_state.node_lost(pod):
            reason = "the pod's node is not reporting"
            return self._seen(unit, "frozen", runtime, endpoint, keeps=exists, reason=reason)
        return self._seen(unit, "running", runtime, endpoint, keeps=exists)

    def _seen(
        self,
        unit: str,
        state: Literal["running", "frozen", "unreachable"],
        runtime: str | None,
        endpoint: Endpoint | None = None,
        *,
        keeps: bool,
        reason: str | None = None,
    ) -> Observation:
        return Observation(
            unit=unit,
            state=state,
            runtime=runtime,
            endpoint=endpoint,
            isolation="kubernetes",
            keeps=keeps,
            reason=reason,
        )

    # ---- waiting

    async def _wait_until_it_runs(self, created: ObjectSummary, image: str, report: Report) -> str:
        """Return the pod's IP address once the sandbox's container is running."""
        name, reported = created.name, Progress(phase="")

        def now() -> PodSummary | None:
            pod = self._pods.objects.get(name)
            return pod if pod is not None and _same(pod, created) else None

        def after(step: Callable[[PodSummary], bool]) -> PodSummary | None:
            """Return the pod if it has completed `step`, or can no longer complete it, for example after its
            removal."""
            pod = now()
            if pod is None:
                removed = self._pods.removed.get(name)
                return removed if removed is not None and _same(removed, created) else None
            return pod if step(pod) or pod_state.failure(pod, image) else None

        def decided() -> HawseError | str | None:
            nonlocal reported
            if (pod := now()) is None:
                return HawseError("unavailable", "the pod was deleted")
            if (progress := pod_state.progress(pod)) != reported:
                report(progress)
                reported = progress
            return pod_state.failure(pod, image) or pod_state.address(pod)

        report(Progress(phase="scheduling"))
        try:
            async with asyncio.timeout(self._settings.schedule_timeout):
                await self._pods.until(lambda: after(pod_state.scheduled))
        except TimeoutError:
            if not self._pods.current:
                raise HawseError("unavailable", "the cluster is not reporting changes") from None
            waiting = now()
            reason = (waiting and pod_state.waiting_for_node(waiting)) or "the cluster did not choose a node in time"
            details = {"retry_after": RETRY_AFTER}
            raise HawseError("capacity_exceeded", f"no node for the sandbox: {reason}", details=details) from None
        try:
            async with asyncio.timeout(NOTICE_TIMEOUT):
                await self._pods.until(lambda: after(pod_state.noticed))
        except TimeoutError:
            reason = "the node may be down" if self._pods.current else "the cluster is not reporting changes"
            message = f"no node started the pod within {NOTICE_TIMEOUT:g} s: {reason}"
            raise HawseError("unavailable", message) from None
        try:
            async with asyncio.timeout(self._settings.start_timeout):
                outcome: HawseError | str = await self._pods.until(decided)
        except TimeoutError:
            reason = reported.message or await self._cluster.warning(created) or ""
            message = f"the pod did not start within {self._settings.start_timeout:g} s: {reason}"
            raise HawseError("unavailable", message.rstrip(": ")) from None
        if isinstance(outcome, HawseError):
            raise outcome
        return outcome

    async def _wait_until_it_accepts(self, created: ObjectSummary, endpoint: Endpoint) -> None:
        """Wait until the runtime accepts connections. The runtime's certificate shows that no other program is
        listening."""
        assert isinstance(endpoint.address, TcpAddress)
        assert endpoint.certificate is not None
        context, delay = pinned_context(endpoint.certificate), POLL_MIN
        try:
            async with asyncio.timeout(self._settings.start_timeout):
                while True:
                    with suppress(OSError):
                        _, writer = await asyncio.open_connection(*endpoint.address, ssl=context)
                        writer.transport.abort()
                        return
                    pod = self._pods.objects.get(created.name)
                    if pod is None or not _same(pod, created):
                        raise HawseError("unavailable", "the runtime has ended: the pod was deleted")
                    if pod_state.address(pod) is None:
                        raise HawseError("unavailable", f"the runtime has ended: {pod_state.end_reason(pod)}")
                    await asyncio.sleep(delay)
                    delay = min(2 * delay, POLL_MAX)
        except TimeoutError:
            raise HawseError("unavailable", "the runtime does not accept connections") from None

    async def _wait_until_gone(self, kind: Kind[O], before: O, informer: Informer[O]) -> None:
        """Wait until the cluster has removed an object. When a pod has been removed, its processes have ended.

        Also waits until the removal has been reported, so that `observe` no longer returns the earlier state.
        """
        name = before.name

        async def exists() -> bool:
            if (reported := informer.objects.get(name)) is not None and _same(reported, before):
                return True
            return (now := await self._cluster.get(kind, name)) is not None and _same(now, before)

        try:
            async with asyncio.timeout(STOP_TIMEOUT):
                while await exists():
                    with suppress(TimeoutError):
                        async with asyncio.timeout(LOOK):
                            await informer.changed()
        except TimeoutError:
            pod = self._pods.objects.get(name)
            lost = pod is not None and pod_state.node_lost(pod)
            reason = "the node is not reporting" if lost else "the cluster has not reported its removal"
            raise HawseError("unavailable", f"{kind.resource.__name__} {name}: {reason}") from None


def _same(one: ObjectSummary, other: ObjectSummary) -> bool:
    """Return whether two descriptions refer to the same object, not just to objects with the same name."""
    return one.uid == other.uid
