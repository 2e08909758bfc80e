"""The file of `--kubernetes`: where pods are created, and what they are made of."""

from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
from lightkube.models.core_v1 import PodTemplateSpec
from lightkube.models.networking_v1 import NetworkPolicyPeer
from msgspec import Meta

from hawse.api.sandboxes import ImageName
from hawse_gateway.providers.base import ProviderError

Workspace = Literal["claim", "ephemeral"]
DnsLabel = Annotated[str, Meta(min_length=1, max_length=40, pattern=r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$(?!\n)")]
Quantity = Annotated[str, Meta(pattern=r"^[0-9]{1,18}(Ki|Mi|Gi|Ti)?$(?!\n)")]  # bytes, as Kubernetes writes them
# Who may connect to runtimes, if the file does not say: pods with the labels of the gateways of deploy/kubernetes.
GATEWAYS: Final = {
    "podSelector": {"matchLabels": {"app.kubernetes.io/name": "hawse", "app.kubernetes.io/component": "gateway"}}
}


class KubernetesSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of the provider.

    Attributes:
        runtime_image: The image of the runtime's bundle (`hawse bundle`).
        image: The image of sandboxes that name none.
        namespace: Where pods are created. None: the namespace of the gateway's own configuration.
        context: The context of the kubeconfig. None: its current one, or the cluster that the gateway runs in.
        instance: Gateways with the same instance share their sandboxes; others in the namespace do not see them.
        workspace: `claim`: files are in a volume that survives a stop. `ephemeral`: they end with the pod.
        workspace_size: The size of a workspace, unless the sandbox says so.
        storage_class: Of the volumes. None: the default of the cluster.
        user: The user id of all processes in a pod.
        gateways: The peers that may connect to runtimes, as in a NetworkPolicy.
        network_policies: Whether the provider creates the NetworkPolicies; otherwise an administrator does.
        schedule_timeout: Seconds that a pod may wait for a node.
        start_timeout: Seconds from then until its runtime accepts links; the image is pulled in that time.
        pod: What is merged into each pod: `metadata` and `spec`.
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
    """Read the file of `--kubernetes`.

    Raises:
        ProviderError: It cannot be read, is not TOML, or has a name or a value that is not allowed.
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
    """Refuse what the models of Kubernetes do not have: they would drop it, and a runtime class would have no effect.

    Raises:
        ValueError: A field is not known, or has another type.
    """
    whole = given
    if isinstance(spec := given.get("spec"), dict):
        whole = {**given, "spec": {"containers": [], **spec}}  # the only field that must be there
    try:
        read = kind.from_dict(whole).to_dict()
    except msgspec.ValidationError as error:
        raise ValueError(f"{name}: {error}") from error
    if unknown := _unknown(given, read, name):
        raise ValueError(f"Kubernetes has no field {unknown}")


def _unknown(given: Any, read: Any, path: str) -> str | None:
    """Return the path of a field that was not read. None: there is none."""
    if isinstance(given, dict):
        pairs = [(f"{path}.{key}", value, read.get(key)) for key, value in given.items()]
        missing = next((f"{path}.{key}" for key in given if key not in read), None)
    elif isinstance(given, list):
        pairs = [(f"{path}[{index}]", *pair) for index, pair in enumerate(zip(given, read, strict=True))]
        missing = None
    else:
        return None
    return missing or next(filter(None, (_unknown(value, found, name) for name, value, found in pairs)), None)
