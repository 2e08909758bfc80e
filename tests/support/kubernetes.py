"""A Kubernetes cluster for tests, if available: test images, and leftovers of gateway instances.

KUBECONFIG names the cluster. HAWSE_KUBERNETES_LOAD is a command that receives `TAR NAME` as arguments: it loads a root
file system as an image on all nodes. `make kubernetes-images` runs it before the tests.
"""

import asyncio
import os
import shlex
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

import pytest
from lightkube import ApiError, AsyncClient
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Namespace, PersistentVolumeClaim, Pod, Secret, ServiceAccount
from lightkube.resources.networking_v1 import NetworkPolicy

from hawse_gateway.providers.bundle.image import BUNDLE
from hawse_gateway.providers.kubernetes.manifests import CONTAINER, INSTALLER, PROBE_LABEL, labels
from hawse_gateway.providers.kubernetes.provider import KubernetesProvider
from hawse_gateway.providers.kubernetes.settings import KubernetesSettings
from tests.support import docker
from tests.support.bundle import ensure_tests_bundle
from tests.support.waiting import TIMEOUT

LOAD: Final = os.environ.get("HAWSE_KUBERNETES_LOAD", "")
HAS_CLUSTER: Final = bool(LOAD and os.environ.get("KUBECONFIG"))
needs_cluster = pytest.mark.skipif(
    not HAS_CLUSTER, reason="no Kubernetes cluster for tests (KUBECONFIG and HAWSE_KUBERNETES_LOAD)"
)
KINDS: Final[tuple[Any, ...]] = (Pod, Secret, PersistentVolumeClaim)
APPLETS: Final = (*docker.APPLETS, "dd", "httpd", "tail")
NAMESPACE: Final = "hawse-tests"
RUNTIME_IMAGE: Final = "test/hawse-runtime:1"
BUSYBOX: Final = "test/hawse-busybox:1"
LOCAL: Final = {"imagePullPolicy": "Never"}


def pod(**spec: Any) -> dict[str, Any]:
    """Return the fields merged into pods: they use only images that are present, and the fields in `spec`."""
    return {"spec": {"containers": [{"name": name, **LOCAL} for name in (CONTAINER, INSTALLER)]} | spec}


def load_images() -> None:
    """Load the images of the tests: `make kubernetes-images`."""
    bundle = ensure_tests_bundle()
    busybox = shutil.which("busybox")
    assert busybox is not None, "busybox-static is not installed"
    programs = docker.archive({"bin/busybox": Path(busybox), **{f"bin/{name}": "busybox" for name in APPLETS}})
    with tempfile.NamedTemporaryFile(suffix=".tar") as archive:
        with tarfile.open(fileobj=archive, mode="w") as target:
            target.add(bundle, BUNDLE)
        archive.flush()
        _load(archive.name, RUNTIME_IMAGE)
        archive.seek(0)
        archive.truncate()
        archive.write(programs)
        archive.flush()
        _load(archive.name, BUSYBOX)


async def make_namespace() -> None:
    """Create the namespace of the tests, where the cluster refuses unrestricted pods."""
    async with AsyncClient() as client:
        levels = {"pod-security.kubernetes.io/enforce": "restricted"}
        with suppress(ApiError):  # it exists
            await client.create(Namespace(metadata=ObjectMeta(name=NAMESPACE, labels=levels)))
        async with asyncio.timeout(TIMEOUT):
            while True:  # pods cannot be created before their service account exists
                with suppress(ApiError):
                    await client.get(ServiceAccount, "default", namespace=NAMESPACE)
                    return
                await asyncio.sleep(0.05)


def settings(instance: str, **fields: Any) -> KubernetesSettings:
    """Return settings for the images and the namespace of the tests."""
    given: dict[str, Any] = {
        "namespace": NAMESPACE,
        "runtime_image": RUNTIME_IMAGE,
        "image": BUSYBOX,
        "workspace": "ephemeral",
        "gateways": [{"ipBlock": {"cidr": "0.0.0.0/0"}}],
        "pod": pod(),
    }
    return KubernetesSettings(instance=instance, **(given | fields))


@asynccontextmanager
async def running(provider: KubernetesProvider, instance: str) -> AsyncIterator[KubernetesProvider]:
    """Run a provider. Leftovers of its instance are removed at the end."""
    try:
        async with asyncio.TaskGroup() as tasks:
            following = tasks.create_task(provider.run())
            try:
                yield provider
            finally:
                following.cancel()
    finally:
        await provider.close()
        await clean(instance)


async def left(instance: str) -> list[str]:
    """Return the names of all objects of an instance, except its NetworkPolicies."""
    async with AsyncClient(namespace=NAMESPACE) as client:
        return [
            f"{kind.__name__} {name_of(each)}"
            for kind in KINDS
            async for each in client.list(kind, labels=_selector(instance))
        ]


async def clean(instance: str) -> None:
    """Remove all objects of an instance immediately."""
    async with AsyncClient(namespace=NAMESPACE) as client:
        probe: Any = {PROBE_LABEL: instance}
        selectors = [(kind, _selector(instance)) for kind in (*KINDS, NetworkPolicy)]
        for kind, selector in (*selectors, (Pod, probe)):
            async for each in client.list(kind, labels=selector):
                with suppress(ApiError):  # it may no longer exist
                    await client.delete(kind, name_of(each), grace_period=0)


def name_of(each: Any) -> str:
    """Return the name of an object in the cluster."""
    return str(each.metadata.name)


def _selector(instance: str) -> Any:
    return labels(instance)


def _load(archive: str, name: str) -> None:
    subprocess.run([*shlex.split(LOAD), archive, name], check=True, timeout=300)


if __name__ == "__main__":
    load_images()
