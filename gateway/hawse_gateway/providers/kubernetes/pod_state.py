"""Derives the state of a sandbox from its pod's status. No I/O.

https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/
"""

from typing import Final

from lightkube.models.core_v1 import ContainerState, ContainerStatus, PodCondition
from lightkube.resources.core_v1 import Pod

from hawse.wire import HawseError
from hawse_gateway.providers.base import Progress
from hawse_gateway.providers.kubernetes.manifests import CONTAINER

# Reasons for waiting that are permanent: the image or the container's settings are wrong.
BAD_IMAGE: Final = frozenset(("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"))
BAD_CONTAINER: Final = frozenset(("CreateContainerError", "RunContainerError"))
PULLING: Final = frozenset(("ContainerCreating", "PodInitializing"))
NODE_LOST: Final = frozenset(("NodeLost", "NodeNotReady"))
ENDED: Final = frozenset(("Succeeded", "Failed"))


def is_ending(pod: Pod) -> bool:
    """Return whether the pod is being deleted. It may still be running."""
    return pod.metadata is not None and pod.metadata.deletionTimestamp is not None


def has_ended(pod: Pod) -> bool:
    """Return whether the sandbox's container or the whole pod has ended. The kubelet does not restart them."""
    state = _state(pod)
    return (pod.status is not None and pod.status.phase in ENDED) or (
        state is not None and state.terminated is not None
    )


def address(pod: Pod) -> str | None:
    """Return the pod's IP address if the sandbox's container is running, otherwise None."""
    state = _state(pod)
    if is_ending(pod) or has_ended(pod) or state is None or state.running is None or pod.status is None:
        return None
    return pod.status.podIP


def scheduled(pod: Pod) -> bool:
    """Return whether the cluster has chosen a node for the pod."""
    return pod.spec is not None and pod.spec.nodeName is not None


def noticed(pod: Pod) -> bool:
    """Return whether the kubelet on the pod's node has noticed the pod."""
    return pod.status is not None and pod.status.startTime is not None


def node_lost(pod: Pod) -> bool:
    """Return whether the pod's state is unknown because its node has stopped reporting.

    In this case, the node lifecycle controller only changes the status of `Ready`, whereas a kubelet always adds a
    reason when a pod is not ready.
    """
    ready, containers = _condition(pod, "Ready"), _condition(pod, "ContainersReady")
    if ready is None or ready.status == "True":
        return False
    return ready.reason in NODE_LOST or (not ready.reason and containers is not None and containers.status == "True")


def waiting_for_node(pod: Pod) -> str | None:
    """Return the reason why no node has been chosen for the pod. None if a node has been chosen or the reason is
    unknown."""
    condition = _condition(pod, "PodScheduled")
    if scheduled(pod) or condition is None or condition.status == "True":
        return None
    return condition.message or condition.reason


def progress(pod: Pod) -> Progress:
    """Return the progress of a pod's start."""
    if not scheduled(pod):
        return Progress(phase="scheduling", message=waiting_for_node(pod))
    for status in _statuses(pod):
        waiting = None if status.state is None else status.state.waiting
        if waiting is not None and waiting.reason not in PULLING:
            return Progress(phase="pulling", message=waiting.message or waiting.reason)
    return Progress(phase="starting")


def failure(pod: Pod, image: str) -> HawseError | None:
    """Return the error if the pod can never start, otherwise None.

    Args:
        pod: The pod.
        image: The sandbox's image.
    """
    for status in _statuses(pod):
        waiting = None if status.state is None else status.state.waiting
        if waiting is None or (waiting.reason not in BAD_IMAGE and waiting.reason not in BAD_CONTAINER):
            continue
        text = waiting.message or waiting.reason
        if waiting.reason in BAD_IMAGE and status.name == CONTAINER:
            message = f"cannot pull image {image}: {text}"
            return HawseError("invalid_params", message, details={"path": "$.image"})
        return HawseError("unavailable", f"cannot start container {status.name}: {text}")
    if has_ended(pod) or is_ending(pod):
        return HawseError("unavailable", f"the pod has ended: {end_reason(pod)}")
    return None


def end_reason(pod: Pod) -> str:
    """Return a human-readable reason why a pod has ended, such as an eviction, a lack of memory, or an exit code."""
    status = pod.status
    if status is not None and status.reason:  # the reason for the whole pod, such as Evicted
        return f"{status.reason}: {status.message}" if status.message else status.reason
    ended = [(each.name, each.state.terminated) for each in _statuses(pod) if each.state and each.state.terminated]
    if any(end.reason == "OOMKilled" for _, end in ended):
        return "the kernel killed it because it ran out of memory"
    disruption = _condition(pod, "DisruptionTarget")
    if disruption is not None and disruption.status == "True":
        return f"{disruption.reason}: {disruption.message}" if disruption.message else str(disruption.reason)
    if is_ending(pod):
        return "it was deleted"
    for name, end in ended:
        if end.signal:
            return f"{name} was ended by signal {end.signal}"
        if end.exitCode != 0 or name == CONTAINER:
            return f"{name} has ended with exit code {end.exitCode}"
    return "the reason is unknown"


def _statuses(pod: Pod) -> list[ContainerStatus]:
    """Return the states of all containers. The sandbox's container comes after the one it depends on."""
    if pod.status is None:
        return []
    states = [*(pod.status.initContainerStatuses or []), *(pod.status.containerStatuses or [])]
    return sorted(states, key=lambda status: status.name == CONTAINER)


def _state(pod: Pod) -> ContainerState | None:
    return next((status.state for status in _statuses(pod) if status.name == CONTAINER), None)


def _condition(pod: Pod, kind: str) -> PodCondition | None:
    conditions = None if pod.status is None else pod.status.conditions
    return next((each for each in conditions or [] if each.type == kind), None)
