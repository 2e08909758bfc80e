"""The API of a cluster, played by a test server: mainly its errors."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web

from hawse.wire import HawseError
from hawse_gateway.providers.base import ProviderError
from hawse_gateway.providers.kubernetes.cluster import AlreadyExistsError, Cluster
from hawse_gateway.providers.kubernetes.informer import Change, ExpiredError, Informer
from hawse_gateway.providers.kubernetes.objects import PODS, ObjectSummary
from hawse_gateway.providers.kubernetes.settings import KubernetesSettings
from tests.support.kubernetes_api import SETTINGS as MANY, ClusterApi, described_pod, write_kubeconfig
from tests.support.stack import free_port
from tests.support.waiting import TIMEOUT

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
SETTINGS = KubernetesSettings(runtime_image="a:1", namespace="agents", instance="box")
POD: dict[str, Any] = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "uid": "1", "resourceVersion": "7"}}
FOUND = ObjectSummary("p", "1", "p", ending=False)


class Api:
    """A server whose answers a test chooses."""

    def __init__(self) -> None:
        self.handler: Handler
        self.requests: list[str] = []
        self.bodies: list[bytes] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(f"{request.method} {request.path_qs}")
        self.bodies.append(await request.read())
        return await self.handler(request)

    def refuse(self, code: int, reason: str, message: str) -> None:
        async def handler(request: web.Request) -> web.Response:
            status = {"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message}
            headers = {"content-type": "application/json"}
            return web.Response(body=json.dumps(status).encode(), status=code, headers=headers)

        self.handler = handler


def use_kubeconfig(monkeypatch: pytest.MonkeyPatch, folder: Path, port: int, user: Any = None) -> None:
    """Let KUBECONFIG name a server of this machine, and a user."""
    path = folder / "kubeconfig"
    write_kubeconfig(path, port, user)
    monkeypatch.setenv("KUBECONFIG", str(path))


@pytest_asyncio.fixture
async def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Api]:
    served = Api()
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", served.handle)
    runner = web.AppRunner(application, shutdown_timeout=0)
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    use_kubeconfig(monkeypatch, tmp_path, port)
    yield served
    await runner.cleanup()


@pytest_asyncio.fixture
async def cluster(api: Api) -> AsyncIterator[Cluster]:
    made = Cluster(SETTINGS)
    yield made
    await made.close()


async def test_an_exhausted_quota_is_a_lack_of_capacity(api: Api, cluster: Cluster) -> None:
    api.refuse(403, "Forbidden", 'pods "p" is forbidden: exceeded quota: small, requested: pods=1')
    with pytest.raises(HawseError, match="exceeded quota: small") as caught:
        await cluster.create(POD)
    assert (caught.value.code, caught.value.details) == ("capacity_exceeded", {"retry_after": 10.0})


async def test_other_refusals_are_unavailable_with_the_reason(api: Api, cluster: Cluster) -> None:
    for status, reason, retryable in (
        (403, "Forbidden", False),
        (422, "Invalid", False),
        (500, "InternalError", True),
        (429, "TooManyRequests", True),
    ):
        api.refuse(status, reason, "pods is forbidden: User cannot create resource pods")
        with pytest.raises(HawseError, match="the cluster refused a request: pods is forbidden") as caught:
            await cluster.create(POD)
        assert (caught.value.code, caught.value.retryable) == ("unavailable", retryable)


async def test_an_existing_object_is_a_distinct_error(api: Api, cluster: Cluster) -> None:
    api.refuse(409, "AlreadyExists", 'pods "p" already exists')
    with pytest.raises(AlreadyExistsError):
        await cluster.create(POD)


async def test_a_missing_object_is_not_an_error(api: Api, cluster: Cluster) -> None:
    api.refuse(404, "NotFound", 'pods "p" not found')
    assert await cluster.get(PODS, "p") is None
    await cluster.delete(PODS, FOUND)
    assert [each.split("?")[0] for each in api.requests] == [
        "GET /api/v1/namespaces/agents/pods/p",
        "DELETE /api/v1/namespaces/agents/pods/p",
    ]


async def test_an_object_is_deleted_by_its_uid_and_a_later_one_of_its_name_is_kept(api: Api, cluster: Cluster) -> None:
    api.refuse(409, "Conflict", "the UID in the precondition (1) does not match the UID in record (2)")
    await cluster.delete(PODS, FOUND)
    assert json.loads(api.bodies[-1])["preconditions"] == {"uid": "1"}


async def test_an_error_from_another_server_is_unavailable(api: Api, cluster: Cluster) -> None:
    async def handler(request: web.Request) -> web.Response:
        return web.Response(status=502, text="<html>bad gateway</html>", content_type="text/html")

    api.handler = handler
    with pytest.raises(HawseError, match=r"the cluster cannot be reached: .*502") as caught:
        await cluster.get(PODS, "p")
    assert caught.value.code == "unavailable"


@pytest.mark.parametrize("text", ["<html>please log in</html>", "[]", '{"kind": "PodList", "items": 1}', "{"])
async def test_a_success_from_another_server_is_unavailable(api: Api, cluster: Cluster, text: str) -> None:
    async def handler(request: web.Request) -> web.Response:
        return web.Response(text=text)

    api.handler = handler
    pods = cluster.objects(PODS)
    with pytest.raises(HawseError) as listed:
        _ = [each async for each in pods.pages()]
    with pytest.raises(HawseError) as watched:
        _ = [each async for each in pods.watch("1")]
    assert (listed.value.code, watched.value.code) == ("unavailable", "unavailable")


async def test_a_command_that_prints_no_token_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = {"apiVersion": "client.authentication.k8s.io/v1beta1", "command": "/bin/false"}
    use_kubeconfig(monkeypatch, tmp_path, free_port(), {"exec": command})
    cluster = Cluster(SETTINGS)
    with pytest.raises(HawseError, match="the cluster cannot be reached: Exec /bin/false returned 1") as caught:
        await cluster.get(PODS, "p")
    assert caught.value.code == "unavailable"
    await cluster.close()


async def test_a_cluster_that_does_not_answer_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_kubeconfig(monkeypatch, tmp_path, free_port())
    cluster = Cluster(SETTINGS)
    with pytest.raises(HawseError, match="the cluster cannot be reached") as caught:
        await cluster.get(PODS, "p")
    assert caught.value.code == "unavailable"
    await cluster.close()


def ndjson(*changes: tuple[str, Any]) -> web.Response:
    """Return the response of a watch that ends after some changes."""
    return web.Response(text="".join(json.dumps({"type": type, "object": each}) + "\n" for type, each in changes))


async def test_objects_of_the_instance_are_watched_with_bookmarks_until_the_version_expires(
    api: Api, cluster: Cluster
) -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        assert request.query["labelSelector"] == "app.kubernetes.io/managed-by=hawse,hawse.dev/instance=box"
        assert (request.query["resourceVersion"], request.query["allowWatchBookmarks"]) == ("9", "true")
        gone = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old", "metadata": {}}
        bookmark = {"kind": "Pod", "metadata": {"resourceVersion": "12"}, "spec": {"containers": None}}
        return ndjson(("MODIFIED", POD), ("BOOKMARK", bookmark), ("ERROR", gone))

    api.handler = handler
    seen = []
    with pytest.raises(ExpiredError):
        async for change, version, each in cluster.objects(PODS).watch("9"):
            seen.append((change, version, each and each.name))
    assert seen == [("BOOKMARK", "9", None), ("MODIFIED", "7", "p"), ("BOOKMARK", "12", None)]


async def test_a_version_that_is_already_too_old_has_expired(api: Api, cluster: Cluster) -> None:
    api.refuse(410, "Expired", "too old resource version")
    with pytest.raises(ExpiredError):
        _ = [each async for each in cluster.objects(PODS).watch("9")]
    with pytest.raises(ExpiredError):
        _ = [each async for each in cluster.objects(PODS).pages()]


async def test_lines_are_found_in_any_pieces(api: Api, cluster: Cluster) -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        annotated = {**POD, "metadata": {**POD["metadata"], "annotations": {"hawse.dev/unit": "a\u2028b"}}}
        line = json.dumps({"type": "ADDED", "object": annotated}, ensure_ascii=False).encode() + b"\n"
        for start in range(0, 2 * len(line), 7):
            await response.write((line * 2)[start : start + 7])
        return response

    api.handler = handler
    units = [change.object.unit async for change in cluster.objects(PODS).watch("9") if change.object]
    assert units == ["a\u2028b"] * 2


async def test_a_malformed_pod_is_ignored_with_a_warning(
    api: Api, cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    malformed = {"metadata": {"name": "bad", "uid": "2", "resourceVersion": "8"}, "status": {"phase": ["Running"]}}

    async def handler(request: web.Request) -> web.StreamResponse:
        if "watch" not in request.query:
            return web.json_response({"metadata": {"resourceVersion": "9"}, "items": [malformed, POD]})
        return ndjson(("ADDED", malformed), ("MODIFIED", POD))

    api.handler = handler
    source = cluster.objects(PODS)
    ((version, page),) = [each async for each in source.pages()]
    assert (version, [each.name for each in page]) == ("9", ["p"])
    assert [change async for change in source.watch("9")] == [
        Change("BOOKMARK", "9"),
        Change("ADDED", None),
        Change("MODIFIED", "7", page[0]),
    ]
    assert "ignoring an object: Expected `str | null`, got `array` - at `$.status.phase`" in caplog.text


async def test_many_pods_are_listed_in_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    port, served = free_port(), ClusterApi(250)
    use_kubeconfig(monkeypatch, tmp_path, port)
    runner = await served.serve(port)
    cluster = Cluster(MANY)
    informer = Informer(cluster.objects(PODS))
    try:
        async with asyncio.timeout(TIMEOUT), asyncio.TaskGroup() as tasks:
            task = tasks.create_task(informer.run())
            await informer.until(lambda: informer.current or None)
            task.cancel()
    finally:
        await cluster.close()
        await runner.cleanup()
    assert served.pages == 3
    assert list(informer.objects.values()) == [PODS.read(described_pod(number))[1] for number in range(250)]


def test_without_a_kubeconfig_there_is_no_provider(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "missing"))
    with pytest.raises(ProviderError, match="no usable kubeconfig"):
        Cluster(SETTINGS)
