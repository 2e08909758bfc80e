"""A gateway whose sandboxes are pods of a real cluster, used by clients."""

import asyncio
import json
import secrets
import urllib.parse
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from lightkube import AsyncClient
from lightkube.models.core_v1 import (
    LocalVolumeSource,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PersistentVolumeSpec,
    VolumeNodeAffinity,
)
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Node, PersistentVolume, Pod, PodEviction

import hawse
from hawse.api.sandboxes import SandboxLimits
from hawse.client import Client, Sandbox
from hawse_gateway.providers.kubernetes.manifests import object_name
from tests.support import kubernetes
from tests.support.stack import Stack
from tests.support.waiting import TIMEOUT

# Pods use only images that are present, and the gateway is not a pod.
REST = """
gateways = [{ ipBlock = { cidr = "0.0.0.0/0" } }]
[[pod.spec.containers]]
name = "sandbox"
imagePullPolicy = "Never"
[[pod.spec.containers]]
name = "runtime"
imagePullPolicy = "Never"
"""

pytestmark = [kubernetes.needs_cluster, pytest.mark.asyncio(loop_scope="module")]


def configuration(folder: Path, instance: str, **fields: str) -> Path:
    """Write the --kubernetes file, with additional or different fields."""
    given = {"runtime_image": kubernetes.RUNTIME_IMAGE, "image": kubernetes.BUSYBOX, "namespace": kubernetes.NAMESPACE}
    given |= {"instance": instance, "workspace": "ephemeral"} | fields
    path = folder / "kubernetes.toml"
    path.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in given.items()) + REST)
    return path


@pytest.fixture(scope="module")
def instance() -> str:
    return f"t{secrets.token_hex(4)}"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory, instance: str) -> AsyncIterator[Stack]:
    await kubernetes.make_namespace()
    folder = tmp_path_factory.mktemp("k")
    options = ("--provider", "kubernetes", "--kubernetes", str(configuration(folder, instance)))
    try:
        async with Stack(folder / "s", *options) as stack:
            yield stack
    finally:
        await kubernetes.clean(instance)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(stack: Stack) -> AsyncIterator[Client]:
    async with hawse.connect(stack.base, token=stack.token) as client:
        yield client


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def box(client: Client) -> Sandbox:
    return client.sandbox()


async def output(box: Sandbox, command: str) -> str:
    result = await box.exec(["/bin/sh", "-c", f"{{ {command}\n}} 2>&1"], timeout=60)
    return bytes(result.stdout).decode().strip()


async def test_the_gateway_prints_what_programs_reach(stack: Stack) -> None:
    (line,) = [line for line in stack.printed if "isolated by kubernetes" in line]
    assert "if the cluster enforces NetworkPolicies" in line
    assert "this machine" not in line


async def test_programs_have_no_rights_and_cannot_end_or_read_the_runtime(box: Sandbox) -> None:
    status = await output(box, "cat /proc/self/status; kill -9 1; echo; cat /proc/1/environ")
    assert "Uid:\t1000\t1000\t1000\t1000" in status
    assert "CapEff:\t0000000000000000" in status
    assert "NoNewPrivs:\t1" in status
    assert "Seccomp:\t2" in status
    assert "/proc/1/environ': Permission denied" in status
    assert "Read-only file system" in await output(box, "touch /x")
    assert await output(box, "echo written > /workspace/f; cat /workspace/f; pwd") == "written\n/workspace"


async def test_a_terminal_a_context_and_a_preview_of_a_pod_are_used(stack: Stack, box: Sandbox) -> None:
    async with box.terminals.open(argv=["/bin/sh"]) as terminal, asyncio.timeout(TIMEOUT):
        await terminal.write(b"echo $((6 * 7))\n")
        await terminal.expect("42")
    async with box.code.create("python") as context:
        assert (await context.run("6 * 7")).text == "42"
    await box.files.write("index.html", b"served by a pod")
    async with box.processes.start(["httpd", "-f", "-p", "8000"]) as server:
        await server.wait_for_port(8000, timeout=TIMEOUT)
        preview = await box.ports.expose(8000)
        assert await asyncio.to_thread(_fetch, preview.url, stack.port) == b"served by a pod"
        await server.kill()


async def test_output_goes_on_exactly_after_the_gateway_was_killed(stack: Stack, box: Sandbox) -> None:
    command = "i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo $i; sleep 0.01; done"
    before = await box.runtime()
    async with box.processes.start(["sh", "-c", command]) as run, asyncio.timeout(TIMEOUT):
        lines = [await anext(run.stdout) for _ in range(1)]
        await stack.kill()
        await stack.start()
        lines += [chunk async for chunk in run.stdout]
        assert b"".join(lines) == b"".join(b"%d\n" % number for number in range(1, 301))
    assert (await box.runtime()).runtime == before.runtime


async def test_a_deleted_pod_is_replaced_by_the_next_call(client: Client, instance: str) -> None:
    box = await client.sandboxes.create("lost")
    before = await box.runtime()
    async with AsyncClient(namespace=kubernetes.NAMESPACE) as cluster:
        await cluster.delete(Pod, object_name(instance, "lost"))
    async with asyncio.timeout(TIMEOUT):
        while (await box.runtime()).runtime == before.runtime:  # noqa: ASYNC110  # it is served until the pod has ended
            await asyncio.sleep(0.05)
    assert await output(box, "echo again") == "again"
    await box.delete()


async def until_state(client: Client, sandbox: str, state: str) -> str | None:
    """Wait until a sandbox is in a state; return the reason."""
    async with asyncio.timeout(TIMEOUT), client.sandboxes.watch() as changes:
        async for change in changes:
            if change.id == sandbox and change.info is not None and change.info.state == state:
                return change.info.reason
    raise AssertionError("the changes have ended")


async def test_a_program_that_needs_too_much_memory_ends_and_its_sandbox_can_be_used(client: Client) -> None:
    """The kernel ends the program or the whole pod, depending on a setting of the kubelet."""
    box = await client.sandboxes.create("greedy", limits=SandboxLimits(memory=128 << 20))
    try:
        result = await box.exec(["/bin/tail", "/dev/zero"], timeout=TIMEOUT)
    except hawse.HawseError as error:
        assert "out of memory" in str(await until_state(client, "greedy", "sleeping")), error  # noqa: PT017
    else:
        assert result.signal == "SIGKILL"
    assert await output(box, "echo again") == "again"
    await box.delete()


async def test_an_evicted_pod_ends_with_the_reason_and_starts_again(client: Client, instance: str) -> None:
    box = await client.sandboxes.create("evicted")
    await output(box, "true")
    name = object_name(instance, "evicted")
    async with AsyncClient(namespace=kubernetes.NAMESPACE) as cluster:
        await cluster.create(PodEviction(metadata=ObjectMeta(name=name, namespace=kubernetes.NAMESPACE)), name)
    assert "evict" in str(await until_state(client, "evicted", "sleeping")).lower()
    assert await output(box, "echo again") == "again"
    await box.delete()


async def test_pods_of_a_store_that_was_lost_are_ended_and_their_sandboxes_start_again(tmp_path: Path) -> None:
    instance = f"t{secrets.token_hex(4)}"
    options = ("--provider", "kubernetes", "--kubernetes", str(configuration(tmp_path, instance)))
    try:
        async with Stack(tmp_path / "s", *options) as stack:
            async with hawse.connect(stack.base, token=stack.token) as client:
                box = await client.sandboxes.create("a")
                before = (await box.runtime()).runtime
            await stack.kill()
            stack.lose_store()
            await stack.start()
            async with hawse.connect(stack.base, token=stack.token) as client:
                box = client.sandbox("a")
                assert (await box.runtime()).runtime != before
                await box.delete()
            async with asyncio.timeout(TIMEOUT):
                while await kubernetes.left(instance):  # noqa: ASYNC110  # the cluster deletes the secret
                    await asyncio.sleep(0.1)
    finally:
        await kubernetes.clean(instance)


async def test_files_in_a_claim_survive_a_stop_and_end_with_the_sandbox(tmp_path: Path) -> None:
    """The claim uses a volume on this machine, which is the only node."""
    instance, volume = f"t{secrets.token_hex(4)}", tmp_path / "volume"
    volume.mkdir()
    config = configuration(tmp_path, instance, workspace="claim", workspace_size="1Gi", storage_class=instance)
    async with AsyncClient() as cluster:
        (node,) = [each.metadata.name async for each in cluster.list(Node) if each.metadata]
        on_node = NodeSelectorRequirement(key="kubernetes.io/hostname", operator="In", values=[str(node)])
        spec = PersistentVolumeSpec(
            capacity={"storage": "1Gi"},
            accessModes=["ReadWriteOnce"],
            storageClassName=instance,
            persistentVolumeReclaimPolicy="Retain",
            local=LocalVolumeSource(path=str(volume)),
            nodeAffinity=VolumeNodeAffinity(
                required=NodeSelector(nodeSelectorTerms=[NodeSelectorTerm(matchExpressions=[on_node])])
            ),
        )
        await cluster.create(PersistentVolume(metadata=ObjectMeta(name=instance), spec=spec))
        try:
            options = ("--provider", "kubernetes", "--kubernetes", str(config))
            async with Stack(tmp_path / "s", *options) as stack, hawse.connect(stack.base, token=stack.token) as client:
                box = client.sandbox()
                await output(box, "echo kept > /workspace/f")
                await box.stop()
                kept = [each for each in await kubernetes.left(instance) if "Secret" not in each]  # removed later
                assert kept == [f"PersistentVolumeClaim {object_name(instance, 'local')}"]
                await box.wake()
                assert await output(box, "cat /workspace/f") == "kept"
                await box.delete()
                assert [each for each in await kubernetes.left(instance) if "Secret" not in each] == []
        finally:
            await kubernetes.clean(instance)
            await cluster.delete(PersistentVolume, instance)


def _fetch(url: str, port: int) -> bytes:
    """Get a preview. Its host name does not have to resolve here."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}/", headers={"Host": urllib.parse.urlsplit(url).netloc})
    with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
        content: bytes = response.read()
    return content
