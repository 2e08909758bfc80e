"""Whether the cluster enforces NetworkPolicies is checked at startup, and the pod for it is removed."""

import secrets
from typing import Any, cast

import pytest
from lightkube import AsyncClient
from lightkube.resources.networking_v1 import NetworkPolicy

from hawse.wire import HawseError
from hawse_gateway.providers.kubernetes.cluster import AlreadyExistsError, Cluster
from hawse_gateway.providers.kubernetes.manifests import PORT, Manifest
from hawse_gateway.providers.kubernetes.objects import PODS, Kind, ObjectSummary, PodStatus, PodSummary
from hawse_gateway.providers.kubernetes.policy_probe import ATTEMPTS, PolicyProbe
from tests.support import kubernetes

NOT_ENFORCED = "the cluster does not enforce NetworkPolicies"


class OnePod:
    """A cluster with a pod whose phases are given, one for each time that it is read."""

    def __init__(self, *phases: str, exists: bool = False) -> None:
        self._phases = list(phases)
        self._exists = exists
        self.created: list[Manifest] = []
        self.deleted = 0

    async def replace(self, manifest: Manifest) -> None:
        self.created.append(manifest)

    async def create(self, manifest: Manifest) -> ObjectSummary:
        if self._exists:
            raise AlreadyExistsError
        self.created.append(manifest)
        return ObjectSummary("probe", "1", "probe", ending=False)

    async def get(self, kind: Kind[PodSummary], name: str) -> PodSummary:
        status = PodStatus(scheduled=True, noticed=True, phase=self._phases.pop(0))
        return PodSummary(name, "1", name, False, None, "10.0.0.1", status)

    async def delete(self, kind: Kind[PodSummary], found: ObjectSummary) -> None:
        assert kind is PODS
        self.deleted += 1


class Connections:
    """Connection attempts, each of them accepted or not."""

    def __init__(self, *accepted: bool) -> None:
        self._accepted = list(accepted)

    async def attempt(self, host: str, port: int) -> bool:
        assert (host, port) == ("10.0.0.1", PORT)
        return self._accepted.pop(0)


async def check(cluster: OnePod, *accepted: bool, **settings: Any) -> None:
    connections = Connections(*accepted)
    await PolicyProbe(
        cast(Cluster, cluster), kubernetes.settings("i", **settings), connects=connections.attempt, poll=0.0
    ).run()


async def test_a_cluster_that_accepts_forbidden_connections_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    cluster = OnePod("Pending", "Running")
    await check(cluster, *[True] * ATTEMPTS)
    assert NOT_ENFORCED in caplog.text
    policy, pod = cluster.created
    assert policy["spec"]["podSelector"]["matchLabels"] == pod["metadata"]["labels"]
    assert policy["spec"]["ingress"] == []
    assert cluster.deleted == 1


async def test_a_policy_that_is_applied_late_is_enforced(caplog: pytest.LogCaptureFixture) -> None:
    await check(OnePod("Running"), True, *[False] * (ATTEMPTS - 1))
    assert NOT_ENFORCED not in caplog.text


@pytest.mark.parametrize(
    "cluster",
    [OnePod("Failed"), OnePod("Running", exists=True), OnePod("Failed", exists=True)],
    ids=["ended", "of another gateway", "left by a killed gateway"],
)
async def test_a_check_that_is_not_possible_reports_nothing(cluster: OnePod, caplog: pytest.LogCaptureFixture) -> None:
    await check(cluster)
    assert NOT_ENFORCED not in caplog.text


async def test_an_unavailable_cluster_reports_nothing(caplog: pytest.LogCaptureFixture) -> None:
    class Unavailable(OnePod):
        async def replace(self, manifest: Manifest) -> None:
            raise HawseError("unavailable")

    await check(Unavailable())
    assert NOT_ENFORCED not in caplog.text


async def test_policies_of_an_administrator_are_not_checked() -> None:
    cluster = OnePod()
    await check(cluster, network_policies=False)
    assert cluster.created == []


@kubernetes.needs_cluster
async def test_the_cluster_of_the_tests_does_not_enforce_policies(caplog: pytest.LogCaptureFixture) -> None:
    await kubernetes.make_namespace()
    settings = kubernetes.settings(f"t{secrets.token_hex(4)}")
    cluster = Cluster(settings)
    await PolicyProbe(cluster, settings).run()
    await cluster.close()
    async with AsyncClient(namespace=kubernetes.NAMESPACE) as client:
        await client.delete(NetworkPolicy, f"{settings.instance}-probe")
    assert NOT_ENFORCED in caplog.text
