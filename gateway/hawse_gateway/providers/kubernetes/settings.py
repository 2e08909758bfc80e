"""The settings file for `--kubernetes`, with settings such as where to create pods and the pod template."""

from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
from lightkube.models.core_v1 import PodTemplateSpec
from lightkube.models.networking_v1 import NetworkPolicyPeer
from msgspec import Meta

from hawse.api.images import ImageName
from hawse_gateway.providers.base import ProviderError

Workspace = Literal["claim", "ephemeral"]
DnsLabel = Annotated[str, Meta(min_length=1, max_length=40, pattern=r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$(?!\n)")]
Quantity = Annotated[str, Meta(pattern=r"^[0-9]{1,18}(Ki|Mi|Gi|Ti)?$(?!\n)")]  # number of bytes in Kubernetes notation
# The default peers that may connect to runtimes: pods that have the gateway labels from deploy/kubernetes.
GATEWAYS: Final = {
    "podSelector": {"matchLabels": {"app.kubernetes.io/name": "hawse", "app.kubernetes.io/component": "gateway"}}
}


class KubernetesSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The provider's settings.

    Attributes:
        runtime_image: The image with the runtime's bundle (`hawse bundle`).
        image: The default image for sandboxes.
        namespace: The namespace for pods. None means the namespace in the gateway's own configuration.
        context: The context in the kubeconfig. None means the current context, or the gateway's own cluster.
        instance: The instance's name. Gateways with the same instance name share their sandboxes, which other gateways
            can't see.
        workspace: `claim` stores files in a volume that is kept when the sandbox stops. `ephemeral` deletes the files
            along with the pod.
        workspace_size: The default workspace size.
        storage_class: The storage class for volumes. None means the cluster's default.
        user: The user id for all processes in a pod.
        gateways: The peers that can connect to runtimes, as in a NetworkPolicy.
        network_policies: Whether the provider creates the NetworkPolicies. If false, an administrator must create them.
        schedule_timeout: The maximum time that a pod waits for a node, in seconds.
        start_timeout: The maximum time from the choice of a node until the runtime accepts links, in seconds. Includes
            pulling the image.
        pod: Fields to merge into each pod: `metadata` and `spec`.
    """

    runtime_image: ImageName
    image: ImageName = "debian:bookworm-slim"
    namespace: DnsLabel | None = None
    context: str | None = None
    instance: DnsLabel = "hawse"
    workspace: Workspace = "claim"
    workspace_size: Quantity = "10Gi"
    storage_class: str | None = None
    user: Annotated[int, Meta(ge=1, le=2**31 - 1)] = 1000
    gateways: list[dict[str, Any]] = msgspec.field(default_factory=lambda: [GATEWAYS])
    network_policies: bool = True
    schedule_timeout: Annotated[float, Meta(gt=0)] = 120.0
    start_timeout: Annotated[float, Meta(gt=0)] = 300.0
    pod: dict[str, Any] = {}


def read_settings(path: Path) -> KubernetesSettings:
    """Read the file given with `--kubernetes`.

    Raises:
        ProviderError: The file is unreadable, is not TOML, or contains an unknown name or invalid value.
    """
    try:
        settings = msgspec.toml.decode(path.read_bytes(), type=KubernetesSettings)
        _check("pod", PodTemplateSpec, settings.pod)
        for index, peer in enumerate(settings.gateways):
            _check(f"gateways[{index}]", NetworkPolicyPeer, peer)
        return settings
    except OSError as error:
        raise ProviderError(f"--kubernetes {path}: {error.strerror}") from error
    except (msgspec.MsgspecError, ValueError) as error:
        raise ProviderError(f"--kubernetes {path}: {error}") from error


def _check(name: str, kind: Any, given: Any) -> None:
    """Reject unknown fields, which the Kubernetes models would silently drop.

    Raises:
        ValueError: A field is unknown or has the wrong type.
    """
    whole = given
    if isinstance(spec := given.get("spec"), dict):
        whole = {**given, "spec": {"containers": [], **spec}}  # `containers` is the only required field
    try:
        read = kind.from_dict(whole).to_dict()
    except msgspec.ValidationError as error:
        raise ValueError(f"{name}: {error}") from error
    if unknown := _unknown(given, read, name):
        raise ValueError(f"Kubernetes has no field {unknown}")


def _unknown(given: Any, read: Any, path: str) -> str | None:
    """Return the path of a field that was not read, or None if all fields were read."""
    if isinstance(given, dict):
        pairs = [(f"{path}.{key}", value, read.get(key)) for key, value in given.items()]
        missing = next((f"{path}.{key}" for key in given if key not in read), None)
    elif isinstance(given, list):
        pairs = [(f"{path}[{index}]", *pair) for index, pair in enumerate(zip(given, read, strict=True))]
        missing = None
    else:
        return None
    return missing or next(filter(None, (_unknown(value, found, name) for name, value, found in pairs)), None)
