"""Summaries of pods and claims, decoded from the API's JSON. No I/O.

A gateway keeps a summary of each pod and claim of its instance. A pod is 16 to 40 KiB of JSON. A pod's summary contains
only the fields that the provider reads, and shares equal parts with other summaries, so it needs less than 1 KiB of
memory.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, Generic, TypeVar

import msgspec
from lightkube.core.resource import NamespacedResourceG
from lightkube.resources.core_v1 import PersistentVolumeClaim, Pod
from msgspec import field

from hawse_gateway.providers.kubernetes.manifests import CONTAINER, RUNTIME_LABEL, UNIT_ANNOTATION

MESSAGE: Final = 1024  # maximum length of a message in a summary, in characters
SHARED: Final = 1024  # maximum number of pod states that summaries can share

O_co = TypeVar("O_co", bound="ObjectSummary", covariant=True)


class Waiting(msgspec.Struct, frozen=True, gc=False):
    """The reason why a container has not started."""

    reason: str | None = None
    message: str | None = None

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "message", _shortened(self.message))


class Terminated(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """How a container ended."""

    exit_code: int = 0
    signal: int | None = None
    reason: str | None = None


class Running(msgspec.Struct, frozen=True, gc=False):
    """A running container's state."""


class ContainerState(msgspec.Struct, frozen=True, gc=False):
    """The state of a container. At most one field is set."""

    waiting: Waiting | None = None
    running: Running | None = None
    terminated: Terminated | None = None


class Container(msgspec.Struct, frozen=True, gc=False):
    """A container's name and state."""

    name: str
    state: ContainerState | None = None


class Condition(msgspec.Struct, frozen=True, gc=False):
    """A condition of a pod."""

    type: str
    status: str
    reason: str | None = None
    message: str | None = None

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "message", _shortened(self.message))


class PodStatus(msgspec.Struct, frozen=True, gc=False):
    """The state of a pod. Pods in the same state share this object.

    Attributes:
        scheduled: Whether the cluster has chosen a node.
        noticed: Whether the node's kubelet has noticed the pod.
        phase: The phase, such as `Running`.
        reason: The reason for the state of the whole pod, such as `Evicted`.
        message: The explanation of `reason`.
        containers: All containers. The sandbox's container comes last, because it depends on the other one.
        sandbox: The state of the sandbox's container.
        ready: The condition `Ready`. This and the following conditions are None if they are missing.
        containers_ready: The condition `ContainersReady`.
        pod_scheduled: The condition `PodScheduled`.
        disruption_target: The condition `DisruptionTarget`.
    """

    scheduled: bool
    noticed: bool
    phase: str | None = None
    reason: str | None = None
    message: str | None = None
    containers: tuple[Container, ...] = ()
    sandbox: ContainerState | None = None
    ready: Condition | None = None
    containers_ready: Condition | None = None
    pod_scheduled: Condition | None = None
    disruption_target: Condition | None = None


class ObjectSummary(msgspec.Struct, frozen=True, gc=False):
    """The summary of an object in the cluster.

    Attributes:
        name: The object's name in the cluster.
        uid: The object's identity. A later object with the same name has a different one.
        unit: The unit that the object belongs to.
        ending: Whether the object is being deleted.
    """

    name: str
    uid: str
    unit: str
    ending: bool


class PodSummary(ObjectSummary, frozen=True, gc=False):
    """The summary of a pod.


    Attributes:
        runtime: The runtime id in the pod's label.
        address: The pod's IP address.
        status: The pod's state.
    """

    runtime: str | None
    address: str | None
    status: PodStatus


# ---- the API's JSON: fields that are not declared are skipped


class _Labels(msgspec.Struct):
    runtime: str | None = field(name=RUNTIME_LABEL, default=None)


class _Annotations(msgspec.Struct):
    unit: str | None = field(name=UNIT_ANNOTATION, default=None)


class _Metadata(msgspec.Struct, rename="camel"):
    name: str
    uid: str
    resource_version: str
    deletion_timestamp: str | None = None
    labels: _Labels | None = None
    annotations: _Annotations | None = None


class _Spec(msgspec.Struct, rename="camel"):
    node_name: str | None = None


class _Status(msgspec.Struct, rename="camel"):
    phase: str | None = None
    reason: str | None = None
    message: str | None = None
    pod_ip: str | None = field(name="podIP", default=None)
    start_time: str | None = None
    conditions: list[Condition] | None = None
    init_container_statuses: list[Container] | None = None
    container_statuses: list[Container] | None = None


class _Object(msgspec.Struct):
    metadata: _Metadata


class _Pod(_Object):
    spec: _Spec | None = None
    status: _Status | None = None


W = TypeVar("W", bound=_Object)


class Kind(Generic[O_co]):
    """A kind of object.

    Attributes:
        resource: The lightkube class for these objects, which determines their path in the API.
    """

    def __init__(
        self, resource: type[NamespacedResourceG], decoder: msgspec.json.Decoder[W], summarize: Callable[[W], O_co]
    ) -> None:
        self.resource = resource
        self._decoder: msgspec.json.Decoder[Any] = decoder
        self._summarize: Callable[[Any], O_co] = summarize

    def read(self, json: bytes | msgspec.Raw) -> tuple[str, O_co]:
        """Return an object's version and summary. Raises `msgspec.ValidationError`."""
        found = self._decoder.decode(json)
        return found.metadata.resource_version, self._summarize(found)


def _object(found: _Object) -> ObjectSummary:
    meta = found.metadata
    return ObjectSummary(meta.name, meta.uid, _unit(meta), meta.deletion_timestamp is not None)


def _pod(found: _Pod) -> PodSummary:
    meta, status = found.metadata, found.status or _Status()
    containers = [*(status.init_container_statuses or ()), *(status.container_statuses or ())]
    containers.sort(key=lambda each: each.name == CONTAINER)
    conditions = {each.type: each for each in status.conditions or ()}
    state = PodStatus(
        scheduled=found.spec is not None and found.spec.node_name is not None,
        noticed=status.start_time is not None,
        phase=status.phase,
        reason=status.reason,
        message=_shortened(status.message),
        containers=tuple(containers),
        sandbox=containers[-1].state if containers and containers[-1].name == CONTAINER else None,
        ready=conditions.get("Ready"),
        containers_ready=conditions.get("ContainersReady"),
        pod_scheduled=conditions.get("PodScheduled"),
        disruption_target=conditions.get("DisruptionTarget"),
    )
    return PodSummary(
        meta.name,
        meta.uid,
        _unit(meta),
        meta.deletion_timestamp is not None,
        None if meta.labels is None else meta.labels.runtime,
        status.pod_ip,
        _shared(state),
    )


def _unit(meta: _Metadata) -> str:
    return (meta.annotations and meta.annotations.unit) or meta.name


def _shortened(message: str | None) -> str | None:
    return None if message is None else message[:MESSAGE]


@lru_cache(maxsize=SHARED)
def _shared(status: PodStatus) -> PodStatus:
    """Return an equal status that other pods already share, or else `status` itself."""
    return status


OBJECTS: Final = msgspec.json.Decoder(_Object)
PODS: Final[Kind[PodSummary]] = Kind(Pod, msgspec.json.Decoder(_Pod), _pod)
CLAIMS: Final[Kind[ObjectSummary]] = Kind(PersistentVolumeClaim, msgspec.json.Decoder(_Object), _object)


def read_object(json: bytes) -> ObjectSummary:
    """Return the summary of an object of any kind. Raises `msgspec.ValidationError`."""
    return _object(OBJECTS.decode(json))
