"""Derives the state of a sandbox from its pod's status. No I/O.

https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/
"""

from typing import Final

from hawse.wire import HawseError
from hawse_gateway.providers.base import Progress
from hawse_gateway.providers.kubernetes.manifests import CONTAINER
from hawse_gateway.providers.kubernetes.objects import PodSummary

# Reasons why a container can never start, because the image or the container's settings are wrong.
BAD_IMAGE: Final = frozenset(("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"))
BAD_CONTAINER: Final = frozenset(("CreateContainerError", "RunContainerError"))
PULLING: Final = frozenset(("ContainerCreating", "PodInitializing"))
NODE_LOST: Final = frozenset(("NodeLost", "NodeNotReady"))
ENDED: Final = frozenset(("Succeeded", "Failed"))


def is_ending(pod: PodSummary) -> bool:
    """Return whether the pod is being deleted. Its processes may still be running."""
    return pod.ending


def has_ended(pod: PodSummary) -> bool:
    """Return whether the sandbox's container or the whole pod has ended. The kubelet restarts neither."""
    state = pod.status.sandbox
    return pod.status.phase in ENDED or (state is not None and state.terminated is not None)


def address(pod: PodSummary) -> str | None:
    """Return the pod's IP address if the sandbox's container is running, otherwise None."""
    state = pod.status.sandbox
    if is_ending(pod) or has_ended(pod) or state is None or state.running is None:
        return None
    return pod.address


def scheduled(pod: PodSummary) -> bool:
    """Return whether the cluster has chosen a node for the pod."""
    return pod.status.scheduled


def noticed(pod: PodSummary) -> bool:
    """Return whether the kubelet on the pod's node has noticed the pod."""
    return pod.status.noticed


def node_lost(pod: PodSummary) -> bool:
    """Return whether the pod's state is unknown because its node has stopped reporting.

    If a node has stopped reporting, the node lifecycle controller only changes the status of the pod's condition
    `Ready`. A kubelet that is still reporting always adds a reason when a pod is not ready.
    """
    ready, containers = pod.status.ready, pod.status.containers_ready
    if ready is None or ready.status == "True":
        return False
    return ready.reason in NODE_LOST or (not ready.reason and containers is not None and containers.status == "True")


def waiting_for_node(pod: PodSummary) -> str | None:
    """Return the reason why no node has been chosen for the pod. None if a node has been chosen or the reason is
    unknown."""
    condition = pod.status.pod_scheduled
    if scheduled(pod) or condition is None or condition.status == "True":
        return None
    return condition.message or condition.reason


def progress(pod: PodSummary) -> Progress:
    """Return the progress of a pod's start."""
    if not scheduled(pod):
        return Progress(phase="scheduling", message=waiting_for_node(pod))
    for status in pod.status.containers:
        waiting = None if status.state is None else status.state.waiting
        if waiting is not None and waiting.reason not in PULLING:
            return Progress(phase="pulling", message=waiting.message or waiting.reason)
    return Progress(phase="starting")


def failure(pod: PodSummary, image: str) -> HawseError | None:
    """Return the error if the pod can never start, otherwise None.

    Args:
        pod: The pod.
        image: The sandbox's image.
    """
    for status in pod.status.containers:
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


def end_reason(pod: PodSummary) -> str:
    """Return a human-readable reason why a pod has ended, such as an eviction, a lack of memory, or an exit code."""
    status = pod.status
    if status.reason:  # a reason that applies to the whole pod, such as Evicted
        return f"{status.reason}: {status.message}" if status.message else status.reason
    ended = [(each.name, each.state.terminated) for each in status.containers if each.state and each.state.terminated]
    if any(end.reason == "OOMKilled" for _, end in ended):
        return "the kernel killed it because it ran out of memory"
    disruption = status.disruption_target
    if disruption is not None and disruption.status == "True":
        return f"{disruption.reason}: {disruption.message}" if disruption.message else str(disruption.reason)
    if is_ending(pod):
        return "it was deleted"
    for name, end in ended:
        if end.signal:
            return f"{name} was ended by signal {end.signal}"
        if end.exit_code != 0 or name == CONTAINER:
            return f"{name} has ended with exit code {end.exit_code}"
    return "the reason is unknown"
