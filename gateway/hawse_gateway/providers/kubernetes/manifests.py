"""Builds a unit's objects (pod, secret and claim) and the NetworkPolicies for all units. No I/O.

The pods comply with the Pod Security Standard `restricted`
(https://kubernetes.io/docs/concepts/security/pod-security-standards/).
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from lightkube.utils.quantity import parse_quantity

from hawse.api.sandboxes import Network
from hawse_gateway.providers.base import SandboxSpec
from hawse_gateway.providers.bundle import build as bundle
from hawse_gateway.providers.kubernetes.certificate import RuntimeCertificate
from hawse_gateway.providers.kubernetes.settings import KubernetesSettings

INSTANCE_LABEL: Final = "hawse.dev/instance"
RUNTIME_LABEL: Final = "hawse.dev/runtime"
NETWORK_LABEL: Final = "hawse.dev/network"
PROBE_LABEL: Final = "hawse.dev/probe"  # marks a pod that checks whether NetworkPolicies are enforced
UNIT_ANNOTATION: Final = "hawse.dev/unit"  # an annotation, because label values are limited to 63 characters
CONTAINER: Final = "sandbox"
INSTALLER: Final = "runtime"

PORT: Final = 7070  # the runtime's port
IMAGE_BUNDLE: Final = "/hawse/bundle"  # paths inside the containers
BUNDLE: Final = "/hawse/runtime"
PRIVATE: Final = "/hawse/private"
WORKSPACE: Final = "/workspace"
TOKEN: Final = "token"  # keys in the secret's data
CERTIFICATE: Final = "certificate"

BUNDLE_SIZE: Final = "256Mi"
TMP_SIZE: Final = "1Gi"
GRACE: Final = 10  # seconds between SIGTERM and SIGKILL
# A pod's default resource requests. If the sandbox's limits are lower, the requests are lowered to match.
REQUESTS: Final = {"cpu": "50m", "memory": "128Mi"}
# A pod's default limits, so that one sandbox can't use up a node's memory. If a pod's requests are higher, its limits
# are raised to match. The number of processes can't be limited per pod, only with the kubelet's setting `podPidsLimit`.
LIMITS: Final = {"memory": "512Mi"}
PROBE_SECONDS: Final = 180  # seconds until the cluster ends a pod that checks NetworkPolicies
INSTALLER_RESOURCES: Final = {"requests": {"cpu": "10m", "memory": "16Mi"}}
# Node and cloud addresses where credentials can be obtained. Sandboxes must not be able to reach them.
OF_THE_NODE: Final = {
    # Link-local addresses, and internal services of Alibaba Cloud, Azure and Oracle Cloud.
    "0.0.0.0/0": ["169.254.0.0/16", "100.100.100.200/32", "168.63.129.16/32", "192.0.0.0/24"],
    # Link-local addresses, and internal services of AWS and Google Cloud.
    "::/0": ["fe80::/10", "fd00:ec2::254/128", "fd20:ce::254/128"],
}
# Allows NodeLocal DNSCache, which is the resolver for pods in some clusters, although its address is link-local.
NODE_DNS: Final = {
    "to": [{"ipBlock": {"cidr": "169.254.20.10/32"}}],
    "ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}],
}

Manifest = dict[str, Any]


CONTAINER_SECURITY: Final[Manifest] = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "privileged": False,
    "readOnlyRootFilesystem": True,
}


@dataclass(frozen=True, kw_only=True)
class PodStart:
    """One start of a unit.

    Attributes:
        runtime: The runtime id.
        network: The network for its programs.
        arguments: Additional arguments for the runtime.
    """

    runtime: str
    network: Network
    arguments: Sequence[str] = field(default=())


def object_name(instance: str, unit: str) -> str:
    """Return the name for a unit's objects, in the form of a DNS label.

    The name is unique, so the cluster refuses a second pod for the same unit.
    """
    readable = re.sub(r"[^a-z0-9]+", "-", unit.lower()).strip("-")[:24].strip("-")
    digest = hashlib.sha256(f"{instance}\0{unit}".encode()).hexdigest()[:16]
    return "-".join(filter(None, (instance[:16].strip("-"), readable, digest)))


def secret_name(instance: str, unit: str, runtime: str) -> str:
    """Return the name of the secret for one start."""
    return f"{object_name(instance, unit)}-{runtime}"


def labels(instance: str) -> dict[str, str]:
    """Return the labels shared by all of an instance's objects."""
    return {"app.kubernetes.io/managed-by": "hawse", INSTANCE_LABEL: instance}


def pod(unit: str, spec: SandboxSpec, start: PodStart, settings: KubernetesSettings) -> Manifest:
    """Return a pod. `settings.pod` overrides the defaults, except for fields that must not be changed.

    Args:
        unit: The unit.
        spec: The specification.
        start: The start.
        settings: The provider's settings.
    """
    defaults = {
        "metadata": {},
        "spec": {
            "terminationGracePeriodSeconds": GRACE,
            "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
            # The kubelet starts the containers in the order of this list. Each container waits for the previous
            # container's `postStart` hook.
            "containers": [
                {"name": INSTALLER},
                {"name": CONTAINER, "resources": {"requests": dict(REQUESTS)}},
            ],
        },
    }
    merged: Manifest = merge(merge(defaults, settings.pod), _required(unit, spec, start, settings))
    for container in merged["spec"]["containers"]:
        if container["name"] == CONTAINER:
            container["resources"] = _within_limits(container["resources"])
    return merged


def _within_limits(resources: Manifest) -> Manifest:
    """Return the resources with missing limits set to defaults. Requests are lowered to the limits, because the cluster
    refuses higher requests."""
    requests = resources["requests"]
    defaults = {
        name: requests[name] if _is_more(requests.get(name), value) else value for name, value in LIMITS.items()
    }
    limits = defaults | resources.get("limits", {})
    lowered = {name: limits[name] if _is_more(value, limits.get(name)) else value for name, value in requests.items()}
    return {**resources, "requests": lowered, "limits": limits}


def _is_more(quantity: Any, other: Any) -> bool:
    try:
        one, two = parse_quantity(str(quantity)), parse_quantity(str(other))
    except ValueError:  # the settings contain an invalid value, which the cluster will report
        return False
    return one is not None and two is not None and one > two


def _required(unit: str, spec: SandboxSpec, start: PodStart, settings: KubernetesSettings) -> Manifest:
    name = object_name(settings.instance, unit)
    run_as = {"runAsNonRoot": True, "runAsUser": settings.user, "runAsGroup": settings.user}
    limits = {
        name: value
        for name, value in (
            ("memory", None if spec.limits.memory is None else str(spec.limits.memory)),
            ("cpu", None if spec.limits.cpus is None else f"{max(round(spec.limits.cpus * 1000), 1)}m"),
        )
        if value is not None
    }
    files = "workspace" if settings.workspace == "claim" else "files"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "labels": {**labels(settings.instance), RUNTIME_LABEL: start.runtime, NETWORK_LABEL: start.network},
            "annotations": {UNIT_ANNOTATION: unit},
        },
        "spec": {
            "restartPolicy": "Never",  # only the gateway restarts sandboxes, never the kubelet
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "hostNetwork": False,
            "hostPID": False,
            "hostIPC": False,
            "securityContext": {**run_as, "fsGroup": settings.user, "fsGroupChangePolicy": "OnRootMismatch"},
            "containers": [
                _installer(settings),
                {
                    "name": CONTAINER,
                    "image": spec.image or settings.image,
                    "command": bundle.command(BUNDLE),
                    "args": _arguments(unit, start),
                    "workingDir": "/",
                    "env": _environment(secret_name(settings.instance, unit, start.runtime)),
                    "ports": [{"name": "runtime", "containerPort": PORT}],
                    "securityContext": CONTAINER_SECURITY,
                    "resources": {"limits": limits} if limits else {},
                    "volumeMounts": [
                        {"name": "runtime", "mountPath": BUNDLE, "readOnly": True},
                        {"name": "tmp", "mountPath": "/tmp"},
                        {"name": files, "mountPath": WORKSPACE, "subPath": "workspace"},
                        {"name": files, "mountPath": PRIVATE, "subPath": "private"},
                    ],
                },
            ],
            "volumes": [
                {"name": "runtime", "emptyDir": {"sizeLimit": BUNDLE_SIZE}},
                {"name": "tmp", "emptyDir": {"sizeLimit": TMP_SIZE}},
                {"name": "workspace", "persistentVolumeClaim": {"claimName": name}}
                if settings.workspace == "claim"
                else {"name": "files", "emptyDir": {"sizeLimit": _size(spec, settings)}},
            ],
        },
    }


def _installer(settings: KubernetesSettings) -> Manifest:
    """Return the container that provides the runtime.

    The bundle is copied by this container's `postStart` hook instead of an init container, because the kubelet takes a
    second or two to notice that an init container has exited. The container runs until the pod ends (see install.py).
    """
    return {
        "name": INSTALLER,
        "image": settings.runtime_image,
        "command": bundle.install_command(IMAGE_BUNDLE, BUNDLE, what="wait"),
        "lifecycle": {"postStart": {"exec": {"command": bundle.install_command(IMAGE_BUNDLE, BUNDLE)}}},
        "securityContext": CONTAINER_SECURITY,
        "resources": INSTALLER_RESOURCES,
        "volumeMounts": [{"name": "runtime", "mountPath": BUNDLE}],
    }


def _arguments(unit: str, start: PodStart) -> list[str]:
    where = ["--listen", f"$(HAWSE_POD_IP):{PORT}", "--private", PRIVATE, "--workspace", WORKSPACE]
    python = json.dumps(bundle.command(BUNDLE))
    # In a container's arguments, `$(` starts a variable, and `$$(` is an escaped `$(`.
    more = [argument.replace("$(", "$$(") for argument in start.arguments]
    return ["hawse_runtime", *where, "--python", python, "--sandbox", unit, "--id", start.runtime, *more]


def _environment(secret: str) -> list[Manifest]:
    return [
        {"name": "HOME", "value": WORKSPACE},
        {"name": "USER", "value": "user"},
        {"name": "HAWSE_POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "HAWSE_RUNTIME_TOKEN", "valueFrom": {"secretKeyRef": {"name": secret, "key": TOKEN}}},
        {"name": "HAWSE_RUNTIME_CERTIFICATE", "valueFrom": {"secretKeyRef": {"name": secret, "key": CERTIFICATE}}},
    ]


def secret(unit: str, runtime: str, token: str, made: RuntimeCertificate, settings: KubernetesSettings) -> Manifest:
    """Return the secret that the gateway and the runtime use to authenticate each other."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "metadata": {
            "name": secret_name(settings.instance, unit, runtime),
            "labels": {**labels(settings.instance), RUNTIME_LABEL: runtime},
            "annotations": {UNIT_ANNOTATION: unit},
        },
        "stringData": {TOKEN: token, CERTIFICATE: made.with_key},
    }


def owned(manifest: Manifest, pod: str, uid: str) -> Manifest:
    """Return the object with a pod as its owner, so that the cluster deletes both together."""
    owner = {"apiVersion": "v1", "kind": "Pod", "name": pod, "uid": uid}
    return {**manifest, "metadata": {**manifest["metadata"], "ownerReferences": [owner]}}


def claim(unit: str, spec: SandboxSpec, settings: KubernetesSettings) -> Manifest:
    """Return the claim for the volume that holds the sandbox's and the runtime's files."""
    storage = {} if settings.storage_class is None else {"storageClassName": settings.storage_class}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": object_name(settings.instance, unit),
            "labels": labels(settings.instance),
            "annotations": {UNIT_ANNOTATION: unit},
        },
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": _size(spec, settings)}},
            **storage,
        },
    }


def policies(settings: KubernetesSettings) -> list[Manifest]:
    """Return the NetworkPolicies. They allow only gateways to connect to sandboxes, and let sandboxes connect only to
    their network.
    """
    everywhere = [{"to": [{"ipBlock": {"cidr": cidr, "except": near}} for cidr, near in OF_THE_NODE.items()]}]
    egress: Mapping[Network, list[Manifest]] = {"private": [], "host": [*everywhere, NODE_DNS]}
    return [
        {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": {"name": f"{settings.instance}-sandboxes-{network}", "labels": labels(settings.instance)},
            "spec": {
                "podSelector": {"matchLabels": {**labels(settings.instance), NETWORK_LABEL: network}},
                "policyTypes": ["Ingress", "Egress"],
                "ingress": [{"from": settings.gateways, "ports": [{"protocol": "TCP", "port": PORT}]}],
                "egress": allowed,
            },
        }
        for network, allowed in egress.items()
    ]


def probe(settings: KubernetesSettings) -> tuple[Manifest, Manifest]:
    """Return a NetworkPolicy that allows no connections to a pod, and the pod itself, which accepts connections at
    `PORT`."""
    name, selector = f"{settings.instance}-probe", {PROBE_LABEL: settings.instance}
    policy = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": name, "labels": labels(settings.instance)},
        "spec": {"podSelector": {"matchLabels": selector}, "policyTypes": ["Ingress"], "ingress": []},
    }
    template = settings.pod.get("spec", {})
    containers = [each for each in template.get("containers", []) if each.get("name") == INSTALLER]
    container = {
        "name": INSTALLER,
        "image": settings.runtime_image,
        "command": [*bundle.command(IMAGE_BUNDLE), "http.server", str(PORT), "--directory", IMAGE_BUNDLE],
        "securityContext": CONTAINER_SECURITY,
        "resources": {**INSTALLER_RESOURCES, "limits": {"memory": "64Mi"}},
    }
    spec = {
        "restartPolicy": "Never",
        "activeDeadlineSeconds": PROBE_SECONDS,
        "terminationGracePeriodSeconds": 0,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": settings.user,
            "runAsGroup": settings.user,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container],
    }
    return policy, {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": selector},  # not the instance's labels, because this pod is not a sandbox
        "spec": merge({**template, "containers": containers or [{"name": INSTALLER}]}, spec),
    }


def merge(base: Any, over: Any) -> Any:
    """Merge `over` into `base`: objects by key, lists of named objects by name. Other lists are concatenated."""
    if isinstance(base, Mapping) and isinstance(over, Mapping):
        return {**base, **{key: merge(base[key], value) if key in base else value for key, value in over.items()}}
    if isinstance(base, list) and isinstance(over, list):
        return _merge_lists(base, over)
    return over


def _merge_lists(base: list[Any], over: list[Any]) -> list[Any]:
    changes = {each["name"]: each for each in over if isinstance(each, Mapping) and "name" in each}
    merged = []
    for each in base:
        name = each.get("name") if isinstance(each, Mapping) else None
        merged.append(merge(each, changes.pop(name)) if name in changes else each)
    rest = [each for each in over if not (isinstance(each, Mapping) and "name" in each) or each["name"] in changes]
    return merged + rest


def _size(spec: SandboxSpec, settings: KubernetesSettings) -> str:
    return settings.workspace_size if spec.limits.disk is None else str(spec.limits.disk)
