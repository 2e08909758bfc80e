import json
from typing import Any

import msgspec
import pytest

from hawse_gateway.providers.kubernetes.manifests import CONTAINER, INSTALLER
from hawse_gateway.providers.kubernetes.objects import CLAIMS, MESSAGE, PODS, read_object
from tests.support.kubernetes_api import described_claim, described_pod, unit


def test_a_summary_has_the_fields_of_a_pod() -> None:
    version, pod = PODS.read(described_pod(7))
    assert (version, pod.unit, pod.runtime, pod.address) == ("1", unit(7), f"{7:016x}", "10.0.0.7")
    assert (pod.uid, pod.ending) == ("00000007-a5b0-4f4e-9a53-0a40ae5ad4d7", False)
    assert (pod.status.phase, pod.status.scheduled, pod.status.noticed) == ("Running", True, True)
    assert [each.name for each in pod.status.containers] == [INSTALLER, CONTAINER]
    assert pod.status.ready is not None
    assert (pod.status.ready.status, pod.status.disruption_target) == ("True", None)


def test_pods_in_the_same_state_share_it() -> None:
    (_, one), (_, other) = PODS.read(described_pod(1)), PODS.read(described_pod(2))
    assert one != other
    assert one.status is other.status


def test_a_claim_has_the_name_of_its_pod() -> None:
    _, claim = CLAIMS.read(described_claim(7))
    assert (claim.name, claim.unit, claim.ending) == (PODS.read(described_pod(7))[1].name, unit(7), False)


def test_an_object_without_an_annotation_is_named_after_its_unit() -> None:
    metadata = {"name": "p", "uid": "1", "resourceVersion": "1", "deletionTimestamp": "2026-01-01T00:00:00Z"}
    found = read_object(json.dumps({"kind": "Secret", "metadata": metadata}).encode())
    assert (found.unit, found.ending) == ("p", True)


def test_long_messages_are_shortened() -> None:
    pod = json.loads(described_pod(1))
    text = "x" * 10_000
    waiting = {"name": CONTAINER, "state": {"waiting": {"reason": "ErrImagePull", "message": text}}}
    unplaced = {"type": "PodScheduled", "status": "False", "message": text}
    pod["status"] |= {"message": text, "containerStatuses": [waiting], "conditions": [unplaced]}
    status = PODS.read(json.dumps(pod).encode())[1].status
    state = status.sandbox
    assert state is not None
    assert state.waiting is not None
    assert status.pod_scheduled is not None
    assert [status.message, state.waiting.message, status.pod_scheduled.message] == ["x" * MESSAGE] * 3


@pytest.mark.parametrize(
    "change",
    [{"metadata": {"name": "p"}}, {"status": []}, {"status": {"containerStatuses": "none"}}, {"spec": {"nodeName": 1}}],
)
def test_a_malformed_pod_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        PODS.read(json.dumps(json.loads(described_pod(1)) | change).encode())
