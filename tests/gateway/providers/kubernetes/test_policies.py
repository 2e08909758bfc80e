"""The NetworkPolicies of an instance exist before its pods, and are restored after deletions and changes."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
from lightkube import AsyncClient
from lightkube.resources.networking_v1 import NetworkPolicy

from hawse.wire import HawseError
from hawse_gateway.providers.kubernetes.cluster import Cluster
from hawse_gateway.providers.kubernetes.manifests import Manifest, labels
from hawse_gateway.providers.kubernetes.policies import Policies
from tests.support import kubernetes
from tests.support.waiting import TIMEOUT


class NotedCluster:
    """Notes the objects that are applied. `error` is raised instead."""

    def __init__(self) -> None:
        self.applied: list[str] = []
        self.error: HawseError | None = None
        self.asked = asyncio.Event()

    async def replace(self, manifest: Manifest) -> None:
        self.asked.set()
        if self.error is not None:
            raise self.error
        self.applied.append(manifest["metadata"]["name"])


@pytest.fixture
def cluster() -> NotedCluster:
    return NotedCluster()


def policies(cluster: NotedCluster, **fields: Any) -> Policies:
    return Policies(cast(Cluster, cluster), kubernetes.settings("i", **fields), interval=0.001)


async def test_policies_are_applied_before_a_start_but_not_for_each_of_many(cluster: NotedCluster) -> None:
    kept = policies(cluster)
    await asyncio.gather(*(kept.ensure() for _ in range(5)))
    assert cluster.applied == ["i-sandboxes-private", "i-sandboxes-host"]


async def test_nothing_starts_without_policies(cluster: NotedCluster) -> None:
    kept = policies(cluster)
    cluster.error = HawseError("unavailable", "the cluster cannot be reached")
    with pytest.raises(HawseError, match="cannot be reached"):
        await kept.ensure()
    cluster.error = None
    await kept.ensure()
    assert len(cluster.applied) == 2


async def test_no_policies_are_applied_if_the_operator_manages_them(cluster: NotedCluster) -> None:
    await policies(cluster, network_policies=False).ensure()
    assert cluster.applied == []


async def test_policies_are_applied_periodically_even_after_an_error(cluster: NotedCluster) -> None:
    kept = policies(cluster)
    await kept.ensure()
    cluster.applied.clear()
    cluster.asked.clear()
    cluster.error = HawseError("unavailable")
    async with asyncio.timeout(TIMEOUT), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(kept.run())
        await cluster.asked.wait()
        cluster.error = None
        while len(cluster.applied) < 4:
            cluster.asked.clear()
            await cluster.asked.wait()
        running.cancel()


@pytest.fixture
async def instance() -> AsyncIterator[str]:
    await kubernetes.make_namespace()
    instance = f"t{secrets.token_hex(4)}"
    yield instance
    await kubernetes.clean(instance)


@kubernetes.needs_cluster
async def test_deleted_or_changed_policies_are_restored(instance: str) -> None:
    settings = kubernetes.settings(instance)
    cluster = Cluster(settings)
    kept = Policies(cluster, settings, interval=0.05)
    names = {f"{instance}-sandboxes-private", f"{instance}-sandboxes-host"}
    async with AsyncClient(namespace=kubernetes.NAMESPACE) as client:
        await kept.ensure()
        assert await existing(client, instance) == names
        await client.delete(NetworkPolicy, f"{instance}-sandboxes-private")
        open_to_all: dict[str, Any] = {"spec": {"ingress": [{}]}}
        await client.patch(NetworkPolicy, f"{instance}-sandboxes-host", open_to_all)
        async with asyncio.timeout(TIMEOUT), asyncio.TaskGroup() as tasks:
            running = tasks.create_task(kept.run())
            async for _, policy in client.watch(NetworkPolicy, labels=cast(Any, labels(instance))):
                assert policy.spec is not None
                closed = bool(policy.spec.ingress and policy.spec.ingress[0].from_)
                if closed and await existing(client, instance) == names:
                    host = await client.get(NetworkPolicy, f"{instance}-sandboxes-host")
                    assert host.spec is not None
                    if host.spec.ingress and host.spec.ingress[0].from_:
                        break
            running.cancel()
    await cluster.close()


async def existing(client: AsyncClient, instance: str) -> set[str]:
    listed = client.list(NetworkPolicy, labels=cast(Any, labels(instance)))
    return {policy.metadata.name or "" async for policy in listed if policy.metadata is not None}
