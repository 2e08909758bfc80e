import json
from typing import Any

import pytest

from hawse_gateway.providers.kubernetes import pod_state
from hawse_gateway.providers.kubernetes.manifests import CONTAINER, INSTALLER
from hawse_gateway.providers.kubernetes.objects import PODS, PodSummary


def pod(
    container: dict[str, Any] | None = None, *, installer: dict[str, Any] | None = None, **status: Any
) -> PodSummary:
    """A pod on a node, with the states of its containers."""
    node = status.pop("node", "n1")
    metadata = {"name": "p", "uid": "1", "resourceVersion": "1"} | status.pop("metadata", {})
    common = {"image": "i", "imageID": "", "ready": False, "restartCount": 0}
    named = {CONTAINER: container, INSTALLER: installer}
    states = {
        "containerStatuses": [
            {"name": name, "state": state, **common} for name, state in named.items() if state is not None
        ]
    }
    described = {"metadata": metadata, "spec": {"nodeName": node, "containers": []}, "status": states | status}
    return PODS.read(json.dumps(described).encode())[1]


RUNNING = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
DELETED = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


def waiting(reason: str, message: str = "why") -> dict[str, Any]:
    return {"waiting": {"reason": reason, "message": message}}


def ended(code: int, **fields: Any) -> dict[str, Any]:
    return {"terminated": {"exitCode": code, **fields}}


def test_a_pod_has_an_address_while_its_sandbox_runs() -> None:
    assert pod_state.address(pod(RUNNING, phase="Running", podIP="10.0.0.1")) == "10.0.0.1"
    assert pod_state.address(pod(waiting("PodInitializing"), phase="Pending", podIP="10.0.0.1")) is None
    assert pod_state.address(pod(RUNNING, phase="Running", podIP="10.0.0.1", metadata=DELETED)) is None
    assert pod_state.address(pod(ended(1), phase="Failed", podIP="10.0.0.1")) is None
    assert pod_state.address(pod()) is None


def test_a_pod_is_noticed_once_its_node_starts_it() -> None:
    assert pod_state.noticed(pod(phase="Pending", startTime="2026-01-01T00:00:00Z"))
    assert not pod_state.noticed(pod(phase="Pending"))


@pytest.mark.parametrize("reason", ["ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"])
def test_an_image_that_cannot_be_pulled_is_an_error_of_the_caller(reason: str) -> None:
    error = pod_state.failure(pod(waiting(reason, "no such image")), "box:1")
    assert error is not None
    assert (error.code, error.message) == ("invalid_params", "cannot pull image box:1: no such image")


def test_a_registry_that_does_not_answer_is_waited_for() -> None:
    assert pod_state.failure(pod(waiting("RegistryUnavailable", "no answer")), "box:1") is None


def test_the_image_of_the_runtime_is_not_the_callers() -> None:
    error = pod_state.failure(
        pod(waiting("PodInitializing"), installer=waiting("ErrImagePull", "no such image")), "box:1"
    )
    assert error is not None
    assert (error.code, error.message) == ("unavailable", f"cannot start container {INSTALLER}: no such image")


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (pod(ended(137, reason="OOMKilled"), phase="Failed"), "the kernel killed it because it ran out of memory"),
        (pod(ended(3), phase="Failed"), f"{CONTAINER} has ended with exit code 3"),
        (pod(ended(0), phase="Succeeded"), f"{CONTAINER} has ended with exit code 0"),
        (pod(ended(128), installer=ended(1), phase="Failed"), f"{INSTALLER} has ended with exit code 1"),
        (pod(ended(3), installer=RUNNING, phase="Running"), f"{CONTAINER} has ended with exit code 3"),
        (
            pod(phase="Failed", reason="Evicted", message="The node was low on resource: memory."),
            "Evicted: The node was low on resource: memory.",
        ),
        (
            pod(
                RUNNING,
                metadata=DELETED,
                conditions=[
                    {
                        "type": "DisruptionTarget",
                        "status": "True",
                        "reason": "EvictionByEvictionAPI",
                        "message": "drained",
                    }
                ],
            ),
            "EvictionByEvictionAPI: drained",
        ),
        (pod(RUNNING, metadata=DELETED), "it was deleted"),
        (pod(phase="Failed"), "the reason is unknown"),
    ],
)
def test_the_reason_for_an_end_is_reported(found: PodSummary, reason: str) -> None:
    assert pod_state.end_reason(found) == reason
    error = pod_state.failure(found, "box:1")
    assert error is not None
    assert (error.code, error.message) == ("unavailable", f"the pod has ended: {reason}")


def test_a_pod_that_still_can_start_has_no_failure() -> None:
    for found in (pod(), pod(waiting("ContainerCreating")), pod(waiting("CreateContainerConfigError")), pod(RUNNING)):
        assert pod_state.failure(found, "box:1") is None


def test_progress_reports_the_current_step() -> None:
    conditions = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes"}]
    unplaced = pod(node=None, conditions=conditions)
    assert not pod_state.scheduled(unplaced)
    assert pod_state.waiting_for_node(unplaced) == "0/1 nodes"
    assert pod_state.progress(unplaced).phase == "scheduling"
    assert pod_state.waiting_for_node(pod()) is None
    assert pod_state.progress(pod(waiting("ContainerCreating"))).phase == "starting"
    assert pod_state.progress(pod(waiting("CreateContainerConfigError", "no secret"))).message == "no secret"


def test_a_node_that_does_not_report_is_known() -> None:
    def ready(status: str, reason: str | None, containers: str = "False") -> PodSummary:
        conditions = [{"type": "Ready", "status": status, "reason": reason}]
        return pod(RUNNING, conditions=[*conditions, {"type": "ContainersReady", "status": containers}])

    assert pod_state.node_lost(ready("False", "NodeNotReady"))
    assert not pod_state.node_lost(ready("False", "ContainersNotReady"))
    assert not pod_state.node_lost(ready("True", "NodeNotReady"))
    assert not pod_state.node_lost(pod(RUNNING))
    assert pod_state.node_lost(ready("False", None, "True")), "what the node lifecycle controller writes"
    assert not pod_state.node_lost(ready("False", "ReadinessGatesNotReady", "True"))
    assert not pod_state.node_lost(ready("False", None))
