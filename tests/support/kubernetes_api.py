"""A cluster's API for many pods and claims that exist only as JSON: lists with pages, and watches with bookmarks."""

import asyncio
import gzip
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from aiohttp import web

from hawse_gateway.providers.base import SandboxSpec
from hawse_gateway.providers.kubernetes import manifests
from hawse_gateway.providers.kubernetes.manifests import CONTAINER, INSTALLER, PodStart, object_name
from hawse_gateway.providers.kubernetes.settings import KubernetesSettings

SETTINGS: Final = KubernetesSettings(
    runtime_image="registry.example/hawse-runtime:1", namespace="agents", instance="many", network_policies=False
)
UNIT: Final = "s000000"
TIME: Final = "2026-01-01T00:00:00Z"
BOOKMARKS: Final = 60.0  # seconds between bookmarks, as in a real cluster
COMPRESSED: Final = 128 << 10  # number of bytes above which the API server compresses a response


def unit(number: int) -> str:
    return f"s{number:06}"


def described_pod(number: int, *, ready: bool = True) -> bytes:
    """Return a running pod of about 10 KB, like a real cluster does."""
    return _described(_POD if ready else _UNREADY_POD, number)


def described_claim(number: int) -> bytes:
    return _described(_CLAIM, number)


def _described(template: str, number: int) -> bytes:
    texts = {
        object_name(SETTINGS.instance, UNIT): object_name(SETTINGS.instance, unit(number)),
        UNIT: unit(number),
        "0" * 16: f"{number:016x}",
        "0" * 8 + "-uid": f"{number:08x}-a5b0-4f4e-9a53-0a40ae5ad4d7",
        "10.0.0.0": f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}",
    }
    for old, new in texts.items():
        template = template.replace(old, new)
    return template.encode()


def _managed(value: Any) -> Any:
    """Return the names of all fields in the form of `managedFields`."""
    if isinstance(value, dict):
        return {f"f:{key}": _managed(each) for key, each in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], dict) and "name" in value[0]:
        return {f'k:{{"name":"{each["name"]}"}}': {".": {}, **_managed(each)} for each in value}
    return {}


def _completed(manifest: dict[str, Any], status: dict[str, Any]) -> str:
    """Return the JSON of an object with the fields that a cluster adds."""
    fields = [
        {"manager": manager, "operation": "Update", "apiVersion": "v1", "time": TIME, "fieldsV1": _managed(managed)}
        for manager, managed in (("hawse", manifest), ("kubelet", {"status": status}))
    ]
    metadata: dict[str, Any] = {
        "namespace": SETTINGS.namespace,
        "uid": "0" * 8 + "-uid",
        "resourceVersion": "1",
        "generation": 1,
    }
    metadata |= {"creationTimestamp": TIME, **manifest["metadata"], "managedFields": fields}
    return json.dumps({**manifest, "metadata": metadata, "status": status}, separators=(",", ":"))


def _pod(*, ready: bool) -> str:
    manifest = manifests.pod(UNIT, SandboxSpec(), PodStart(runtime="0" * 16, network="private"), SETTINGS)
    manifest["spec"] |= {"nodeName": "node-1", "schedulerName": "default-scheduler", "dnsPolicy": "ClusterFirst"}
    conditions = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    common = {"status": str(ready), "lastProbeTime": None, "lastTransitionTime": TIME, "observedGeneration": 1}
    status = {
        "phase": "Running",
        "conditions": [{"type": each, **common} for each in conditions],
        "hostIP": "10.255.0.1",
        "podIP": "10.0.0.0",
        "podIPs": [{"ip": "10.0.0.0"}],
        "startTime": TIME,
        "qosClass": "Burstable",
        "containerStatuses": [
            {
                "name": name,
                "state": {"running": {"startedAt": TIME}},
                "lastState": {},
                "ready": ready,
                "restartCount": 0,
                "image": "registry.example/image:1",
                "imageID": "sha256:" + "a" * 64,
                "containerID": "containerd://" + "b" * 64,
                "resources": {"requests": {"cpu": "50m", "memory": "128Mi"}},
                "volumeMounts": [{"name": "runtime", "mountPath": "/hawse/runtime"}],
            }
            for name in (CONTAINER, INSTALLER)
        ],
    }
    return _completed(manifest, status)


_POD: Final = _pod(ready=True)
_UNREADY_POD: Final = _pod(ready=False)
_CLAIM: Final = _completed(manifests.claim(UNIT, SandboxSpec(), SETTINGS), {"phase": "Bound"})


class ClusterApi:
    """Serves `count` pods and as many claims.

    Attributes:
        pages: The number of pages that were listed.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.pages = 0

    async def serve(self, port: int) -> web.AppRunner:
        """Start serving. The caller cleans the result up."""
        application = web.Application()
        for plural, described in (("pods", described_pod), ("persistentvolumeclaims", described_claim)):
            application.router.add_get(f"/api/v1/namespaces/{SETTINGS.namespace}/{plural}", self._objects(described))
        runner = web.AppRunner(application, shutdown_timeout=0)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        return runner

    def _objects(self, described: Callable[[int], bytes]) -> Callable[[web.Request], Any]:
        async def handle(request: web.Request) -> web.StreamResponse:
            if "watch" in request.query:
                return await self._watch(request)
            return self._list(request, described)

        return handle

    def _list(self, request: web.Request, described: Callable[[int], bytes]) -> web.Response:
        self.pages += 1
        start = int(request.query.get("continue", 0))
        end = min(start + int(request.query["limit"]), self.count)
        metadata = {"resourceVersion": "1"} | ({"continue": str(end)} if end < self.count else {})
        items = b",".join(described(number) for number in range(start, end))
        body = b'{"kind":"List","metadata":%s,"items":[%s]}' % (json.dumps(metadata).encode(), items)
        headers = {"Content-Type": "application/json"}
        if len(body) > COMPRESSED and "gzip" in request.headers.get("Accept-Encoding", ""):
            body, headers = gzip.compress(body, 1), headers | {"Content-Encoding": "gzip"}
        return web.Response(body=body, headers=headers)

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        bookmark = {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "1"}}}
        with suppress(ConnectionResetError):
            while True:
                await response.write(json.dumps(bookmark).encode() + b"\n")
                await asyncio.sleep(BOOKMARKS)
        return response


def write_kubeconfig(path: Path, port: int, user: Any = None) -> None:
    """Write a kubeconfig for a server on this machine."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "users": [{"name": "u", "user": user or {"token": "t"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    path.write_text(json.dumps(config))
