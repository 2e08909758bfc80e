"""The Kubernetes provider with a real cluster and real pods, in a namespace that enforces the standard `restricted`."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from lightkube import AsyncClient
from lightkube.models.core_v1 import ResourceQuotaSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import PersistentVolumeClaim, Pod, ResourceQuota

from hawse.api.sandboxes import SandboxCreate, SandboxLimits
from hawse.wire import HawseError
from hawse_gateway.providers.base import Endpoint, Progress, SandboxSpec
from hawse_gateway.providers.kubernetes import manifests
from hawse_gateway.providers.kubernetes.cluster import AlreadyExistsError, Cluster, Objects
from hawse_gateway.providers.kubernetes.informer import Change
from hawse_gateway.providers.kubernetes.manifests import CONTAINER, INSTALLER, Manifest, PodStart, object_name
from hawse_gateway.providers.kubernetes.objects import PODS, ObjectSummary
from hawse_gateway.providers.kubernetes.provider import KubernetesProvider
from hawse_gateway.providers.kubernetes.settings import KubernetesSettings
from hawse_gateway.sandboxes.requests import check_request
from hawse_gateway.upstream.dial import dial
from tests.support import kubernetes
from tests.support.dialed import Owner, ask_over
from tests.support.waiting import TIMEOUT

pytestmark = kubernetes.needs_cluster

RUNTIME = "0123456789abcdef"
OTHER = "fedcba9876543210"
SPEC = SandboxSpec()


def ignore(progress: Progress) -> None:
    """Take no notice of the progress."""


@pytest_asyncio.fixture
async def instance() -> str:
    await kubernetes.make_namespace()
    return f"t{secrets.token_hex(4)}"


@pytest_asyncio.fixture
async def provider(instance: str) -> AsyncIterator[KubernetesProvider]:
    async with kubernetes.running(KubernetesProvider(kubernetes.settings(instance)), instance) as provider:
        yield provider


async def started(provider: KubernetesProvider, spec: SandboxSpec = SPEC, runtime: str = RUNTIME) -> Endpoint:
    await provider.create("box", spec, ignore)
    return await provider.start("box", spec, runtime, ignore)


async def started_or_error(provider: KubernetesProvider) -> tuple[str, str]:
    """Return the code and the message of the error of a start."""
    with pytest.raises(HawseError) as caught:
        await started(provider)
    return caught.value.code, str(caught.value.message)


async def pod_of(instance: str) -> Any:
    async with AsyncClient(namespace=kubernetes.NAMESPACE) as client:
        return await client.get(Pod, object_name(instance, "box"))


async def until_observed(provider: KubernetesProvider, state: str) -> str | None:
    """Wait until a unit is in a state; return the reason."""
    async with asyncio.timeout(TIMEOUT):
        while (seen := await provider.observe("box")).state != state:  # noqa: ASYNC110  # providers report no changes
            await asyncio.sleep(0.02)
        return seen.reason


async def test_a_unit_is_started_used_stopped_and_nothing_is_left(provider: KubernetesProvider, instance: str) -> None:
    assert (await provider.observe("box")).state == "absent"
    await provider.create("box", SPEC, ignore)
    phases: list[str] = []
    endpoint = await provider.start("box", SPEC, RUNTIME, lambda progress: phases.append(progress.phase))
    assert (phases[0], phases[-1]) == ("scheduling", "connecting")
    seen = await provider.observe("box")
    assert (seen.state, seen.runtime, seen.isolation) == ("running", RUNTIME, "kubernetes")
    assert seen.endpoint is not None
    assert seen.endpoint.address == endpoint.address
    assert [(found.unit, found.state) for found in await provider.discover()] == [("box", "running")]
    await ask_over(endpoint)
    await provider.stop("box")
    assert (await provider.observe("box")).state == "absent"
    await provider.delete("box")
    assert await kubernetes.left(instance) == []


async def test_only_the_gateway_that_knows_the_token_is_served(provider: KubernetesProvider) -> None:
    endpoint = await started(provider)
    with pytest.raises(HawseError, match="unauthenticated"):
        await dial(Endpoint(endpoint.address, "wrong", certificate=endpoint.certificate), Owner())


async def test_the_pods_limits_are_reported(provider: KubernetesProvider, instance: str) -> None:
    await started(provider, SandboxSpec(limits=SandboxLimits(memory=256 << 20, cpus=0.5)))
    (_, container) = (await pod_of(instance)).spec.containers
    assert container.resources.limits == {"memory": "268435456", "cpu": "500m"}


async def test_a_sandbox_can_have_less_than_the_default_requests(provider: KubernetesProvider) -> None:
    await started(provider, SandboxSpec(limits=SandboxLimits(memory=96 << 20, cpus=0.04)))


async def test_another_gateway_of_the_instance_finds_the_unit_and_others_do_not(
    provider: KubernetesProvider, instance: str
) -> None:
    await started(provider)
    same, stranger = (KubernetesProvider(kubernetes.settings(each)) for each in (instance, f"{instance}x"))
    async with kubernetes.running(stranger, f"{instance}x"):
        assert await stranger.discover() == []
    async with kubernetes.running(same, f"{instance}y"):
        assert [(found.unit, found.runtime) for found in await same.discover()] == [("box", RUNTIME)]


class Unreported(Objects[Any]):
    """Objects whose changes are never reported, as on a connection that was lost without a word."""

    async def watch(self, version: str) -> AsyncIterator[Change[Any]]:
        yield Change("BOOKMARK", version)
        await asyncio.Event().wait()


class FollowedCluster(Cluster):
    """A cluster whose objects are of another class."""

    followed: type[Objects[Any]]

    def objects(self, kind: Any) -> Objects[Any]:
        followed = super().objects(kind)
        followed.__class__ = self.followed
        return followed


class SilentCluster(FollowedCluster):
    """A cluster that lists and answers, and does not report changes."""

    followed = Unreported


async def test_an_expected_start_is_found_while_an_earlier_one_is_reported(
    provider: KubernetesProvider, instance: str
) -> None:
    settings = kubernetes.settings(instance)
    other = KubernetesProvider(settings, cluster=SilentCluster(settings))
    await started(provider)
    async with kubernetes.running(other, f"{instance}y"):
        assert (await other.observe("box")).runtime == RUNTIME
        await provider.stop("box")
        await started(provider, runtime=OTHER)
        assert (await other.observe("box")).runtime == RUNTIME, "it was not reported"
        seen = await other.observe("box", OTHER)
        assert (seen.state, seen.runtime) == ("running", OTHER)


async def test_a_pod_that_took_the_place_of_another_is_not_deleted_with_it(
    provider: KubernetesProvider, instance: str
) -> None:
    await started(provider)
    before = (await pod_of(instance)).metadata
    await provider.stop("box")
    await started(provider, runtime=OTHER)
    cluster = Cluster(kubernetes.settings(instance))
    await cluster.delete(PODS, ObjectSummary(before.name, before.uid, "box", ending=False))
    await cluster.close()
    seen = await provider.observe("box", OTHER)
    assert (seen.state, seen.runtime) == ("running", OTHER)
    assert (await pod_of(instance)).metadata.deletionTimestamp is None


async def test_a_start_by_another_gateway_is_seen_before_it_is_reported(
    provider: KubernetesProvider, instance: str
) -> None:
    settings = kubernetes.settings(instance)
    other = KubernetesProvider(settings, cluster=SilentCluster(settings))
    async with kubernetes.running(other, f"{instance}y"):
        assert (await other.observe("box")).state == "absent"
        await started(provider)
        assert [found.unit for found in await other.discover()] == []
        seen = await other.observe("box")
        assert (seen.state, seen.runtime) == ("running", RUNTIME)


async def test_of_two_starts_of_a_unit_the_cluster_refuses_one(provider: KubernetesProvider) -> None:
    await provider.create("box", SPEC, ignore)
    starts = (provider.start("box", SPEC, runtime, ignore) for runtime in (RUNTIME, OTHER))
    results = await asyncio.gather(*starts, return_exceptions=True)
    (refused,) = (each for each in results if isinstance(each, BaseException))
    assert isinstance(refused, HawseError)
    assert (refused.code, refused.message) == ("unavailable", "another pod of this sandbox has not ended yet")


async def test_a_pod_that_has_ended_is_replaced_by_a_start(provider: KubernetesProvider, instance: str) -> None:
    """As after the store was lost: no row knows the pod, so nothing has stopped it."""
    manifest = manifests.pod("box", SPEC, PodStart(runtime=OTHER, network="private"), kubernetes.settings(instance))
    manifest["spec"]["containers"] = [{**each, "command": ["/bin/true"]} for each in manifest["spec"]["containers"]]
    for container in manifest["spec"]["containers"]:
        container["image"], container["env"] = kubernetes.BUSYBOX, []
        container.pop("lifecycle", None)
    cluster = Cluster(kubernetes.settings(instance))
    ended = await cluster.create(manifest)
    await cluster.close()
    await until_observed(provider, "stopped")
    await started(provider)
    assert (await pod_of(instance)).metadata.uid != ended.uid
    assert (await provider.observe("box")).runtime == RUNTIME


class RefusingCluster(Cluster):
    """A cluster that tells when an object was there already."""

    def __init__(self, settings: KubernetesSettings) -> None:
        super().__init__(settings)
        self.refused = asyncio.Event()

    async def create(self, manifest: Manifest) -> ObjectSummary:
        try:
            return await super().create(manifest)
        except AlreadyExistsError:
            self.refused.set()
            raise


async def test_a_deleted_claim_is_created_again_once_it_is_gone(instance: str) -> None:
    settings = kubernetes.settings(instance, workspace="claim")
    cluster = RefusingCluster(settings)
    async with (
        kubernetes.running(KubernetesProvider(settings, cluster=cluster), instance) as provider,
        AsyncClient(namespace=kubernetes.NAMESPACE) as client,
    ):
        await provider.create("box", SPEC, ignore)
        name = object_name(instance, "box")
        claim = await client.get(PersistentVolumeClaim, name)
        held: Any = {"metadata": {"finalizers": ["hawse.dev/tests"]}}  # as a pod that uses it does
        await client.patch(PersistentVolumeClaim, name, held)
        await client.delete(PersistentVolumeClaim, name)
        async with asyncio.TaskGroup() as tasks, asyncio.timeout(TIMEOUT):
            tasks.create_task(provider.create("box", SPEC, ignore))
            await cluster.refused.wait()
            held["metadata"]["finalizers"] = None
            await client.patch(PersistentVolumeClaim, name, held)
        made = await client.get(PersistentVolumeClaim, name)
        assert made.metadata is not None
        assert claim.metadata is not None
        assert (made.metadata.uid == claim.metadata.uid, made.metadata.deletionTimestamp) == (False, None)


async def test_only_the_named_start_is_stopped(provider: KubernetesProvider) -> None:
    await started(provider)
    await provider.stop("box", OTHER)
    assert (await provider.observe("box")).state == "running"
    await provider.stop("box", RUNTIME)
    assert (await provider.observe("box")).state == "absent"


async def test_a_unit_whose_pod_was_deleted_can_be_started_again(provider: KubernetesProvider, instance: str) -> None:
    await started(provider)
    async with AsyncClient(namespace=kubernetes.NAMESPACE) as client:
        await client.delete(Pod, object_name(instance, "box"), grace_period=0)
    await until_observed(provider, "absent")
    await provider.stop("box")
    await started(provider, runtime=OTHER)
    assert (await provider.observe("box")).runtime == OTHER


async def test_a_cancelled_start_is_ended_by_stop(provider: KubernetesProvider, instance: str) -> None:
    await provider.create("box", SPEC, ignore)
    starting = asyncio.ensure_future(provider.start("box", SPEC, RUNTIME, ignore))
    await until_observed(provider, "unreachable")
    starting.cancel()
    await asyncio.gather(starting, return_exceptions=True)
    await provider.stop("box")
    assert (await provider.observe("box")).state == "absent"


async def test_an_image_that_no_node_has_is_an_error_of_the_caller(provider: KubernetesProvider) -> None:
    spec = SandboxSpec(image="test/no-such-image:1")
    with pytest.raises(HawseError, match="cannot pull image test/no-such-image:1") as caught:
        await started(provider, spec)
    assert (caught.value.code, caught.value.details) == ("invalid_params", {"path": "$.image"})
    await provider.stop("box")


async def test_a_sandbox_that_fits_no_node_is_refused(instance: str) -> None:
    settings = kubernetes.settings(instance, schedule_timeout=1.0, pod=kubernetes.pod(nodeSelector={"no": "such"}))
    async with kubernetes.running(KubernetesProvider(settings), instance) as provider, asyncio.timeout(TIMEOUT):
        while True:  # a busy scheduler may say why only after the time limit
            code, message = await started_or_error(provider)
            assert code == "capacity_exceeded"
            assert "no node for the sandbox: " in message
            await provider.stop("box")
            if "node" in message.partition(": ")[2]:
                break


class LostObjects(Objects[Any]):
    """Objects that were listed once, before the cluster was lost."""

    async def watch(self, version: str) -> AsyncIterator[Change[Any]]:
        raise HawseError("unavailable", "the cluster cannot be reached")
        yield Change("BOOKMARK", version)


class LostCluster(FollowedCluster):
    """A cluster that accepts what is created, and cannot be watched."""

    followed = LostObjects


async def test_a_silent_cluster_is_not_reported_as_a_lack_of_capacity(instance: str) -> None:
    settings = kubernetes.settings(instance, schedule_timeout=1.0)
    provider = KubernetesProvider(settings, cluster=LostCluster(settings))
    async with kubernetes.running(provider, instance):
        with pytest.raises(HawseError, match="the cluster is not reporting changes") as caught:
            await started(provider)
        assert caught.value.code == "unavailable"


async def test_a_pod_that_does_not_start_in_time_has_the_warning_of_the_cluster(instance: str) -> None:
    mounted = {"name": CONTAINER, **kubernetes.LOCAL, "volumeMounts": [{"name": "more", "mountPath": "/more"}]}
    volume = {"name": "more", "configMap": {"name": "no-such-map"}}
    spec = {"containers": [mounted, {"name": INSTALLER, **kubernetes.LOCAL}], "volumes": [volume]}
    settings = kubernetes.settings(instance, start_timeout=2.0, pod={"spec": spec})
    async with kubernetes.running(KubernetesProvider(settings), instance) as provider, asyncio.timeout(TIMEOUT):
        while True:  # warnings are written some time after what they are about
            code, message = await started_or_error(provider)
            assert code == "unavailable"
            assert "the pod did not start within 2 s" in message
            if "no-such-map" in message:
                break
            await provider.stop("box")


async def test_a_pod_deleted_before_it_has_a_node_is_not_waited_for(instance: str) -> None:
    settings = kubernetes.settings(instance, schedule_timeout=1000.0, pod=kubernetes.pod(nodeSelector={"no": "such"}))
    async with kubernetes.running(KubernetesProvider(settings), instance) as provider, asyncio.TaskGroup() as tasks:
        starting = tasks.create_task(started_or_error(provider))
        await until_observed(provider, "unreachable")
        async with AsyncClient(namespace=kubernetes.NAMESPACE) as client:
            await client.delete(Pod, object_name(instance, "box"), grace_period=0)
        async with asyncio.timeout(TIMEOUT):
            code, message = await starting
    assert code == "unavailable"
    assert "it was deleted" in message or message == "the pod was deleted"  # its end, or its removal, was noticed


async def test_an_exhausted_quota_is_a_lack_of_capacity(provider: KubernetesProvider, instance: str) -> None:
    async with AsyncClient(namespace=kubernetes.NAMESPACE) as client:
        hard = ResourceQuotaSpec(hard={"requests.cpu": "1m"})
        await client.create(ResourceQuota(metadata=ObjectMeta(name=instance), spec=hard))
        try:
            async with asyncio.timeout(TIMEOUT):
                while getattr((await client.get(ResourceQuota, instance)).status, "hard", None) is None:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            with pytest.raises(HawseError, match="exceeded quota") as caught:
                await started(provider)
        finally:
            await client.delete(ResourceQuota, instance)
    assert (caught.value.code, caught.value.details) == ("capacity_exceeded", {"retry_after": 10.0})


async def test_the_command_of_an_image_is_refused(provider: KubernetesProvider) -> None:
    assert (await provider.observe("box")).state == "absent"
    with pytest.raises(HawseError, match="cannot run an image"):
        await provider.create("box", SandboxSpec(image_command=True), ignore)


async def test_a_filtered_network_is_refused_with_the_reason(provider: KubernetesProvider) -> None:
    await provider.discover()  # it is connected: uvloop closes no connection whose beginning is cancelled
    with pytest.raises(HawseError, match="pods, which run on other machines") as caught:
        check_request(SandboxCreate(network="filtered"), await provider.capabilities(), "kubernetes")
    assert caught.value.code == "invalid_params"
