"""SIGKILL of each part while a sandbox is created, used and ended, on a real cluster.

What goes on is exact, errors have a code, and nothing is left.

`make test-cluster` runs these tests. They have the cluster for themselves.
"""

import asyncio
import json
import secrets
import urllib.parse
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import httpx2
import psutil
import pytest
import pytest_asyncio
from lightkube import ApiError, AsyncClient
from lightkube.resources.core_v1 import Pod

import hawse
from hawse.client import Client, CodeEnd, CodeStdout, Options, Preview, Sandbox
from hawse_gateway.providers.kubernetes.manifests import object_name
from tests.support import kubernetes
from tests.support.cluster_processes import ClusterProcess, needs_processes, supervised
from tests.support.redis import RedisServer
from tests.support.stack import Stack

# s for one step: the cluster needs some to notice what was killed. A kubelet that has lost the API reads its pods again
# after up to 60 s, and after 60 s more if the new server refuses that because it does not know all rights yet.
LIMIT: Final = 180.0
PAUSE: Final = 0.1  # s between questions
QUICK: Final = Options(backoff_cap=0.2)
LINES: Final = 400
COUNT: Final = f"i=0; while [ $i -lt {LINES} ]; do i=$((i+1)); echo $i; sleep 0.01; done"
COUNT_IN_PYTHON: Final = "import time\nfor number in lines:\n    print(number)\n    time.sleep(0.01)"
COUNTED: Final = b"".join(b"%d\n" % number for number in range(1, LINES + 1))
PAGE: Final = b"x" * (8 << 20)  # more than all buffers on its way
SETTINGS: Final = """
gateways = [{ ipBlock = { cidr = "0.0.0.0/0" } }]
[[pod.spec.containers]]
name = "sandbox"
imagePullPolicy = "Never"
[[pod.spec.containers]]
name = "runtime"
imagePullPolicy = "Never"
"""
# What a fault may be reported as. An error of a bug (`internal`) or of the caller is not among them. `not_found` and
# `stale_handle`: a process or terminal ended with its runtime, and the next runtime does not know it.
REPORTED: Final = frozenset(
    ("unavailable", "cleanup_pending", "interrupted", "outcome_unknown", "stale_handle", "not_found")
)

pytestmark = [needs_processes, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(900)]


class Site:
    """A gateway on a Redis server, whose sandboxes are pods, and what can be killed of it."""

    def __init__(self, instance: str, stack: Stack, redis: RedisServer, client: Client) -> None:
        self.instance = instance
        self.stack = stack
        self.client = client
        self._redis = redis

    async def kill(self, part: str, id: str) -> None:
        """Kill a part, and start it again, if nothing else does."""
        match part:
            case "gateway":
                await self.stack.kill()
                await self.stack.start()
            case "redis":
                await self._redis.kill()
                await self._redis.start(durable=True)
            case "runtime":
                for process in self.runtimes(id):
                    with suppress(psutil.NoSuchProcess):
                        process.kill()
            case "pod":
                async with AsyncClient(namespace=kubernetes.NAMESPACE) as cluster:
                    with suppress(ApiError):  # it is gone already
                        await cluster.delete(Pod, object_name(self.instance, id), grace_period=0)
            case "kubelet" | "apiserver":
                component = ClusterProcess(part)
                await component.kill()
                await component.start()
                await until_ready()
            case _:
                raise AssertionError(part)

    def runtimes(self, id: str) -> list[psutil.Process]:
        """The processes of this machine, which is the node, that are runtimes of a sandbox."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                words = process.cmdline()
                if "hawse_runtime" in words and "--sandbox" in words and words[words.index("--sandbox") + 1] == id:
                    found.append(process)
        return found

    async def until_pod(self, id: str, condition: Callable[[Pod | None], bool]) -> None:
        """Wait until the pod of a sandbox, or None if there is none, satisfies a condition. The cluster reports it."""
        fields: Any = {"metadata.name": object_name(self.instance, id)}
        last: Pod | None = None
        try:
            async with asyncio.timeout(LIMIT), AsyncClient(namespace=kubernetes.NAMESPACE) as cluster:
                listed = cluster.list(Pod, fields=fields)
                found = [pod async for pod in listed]
                last = found[0] if found else None
                if condition(last):
                    return
                async for change, pod in cluster.watch(Pod, fields=fields, resource_version=listed.resourceVersion):
                    last = None if change == "DELETED" else pod
                    if condition(last):
                        return
        except TimeoutError:
            raise AssertionError(f"the pod was at last: {last and last.status}") from None


@pytest.fixture(scope="module")
def instance() -> str:
    return f"f{secrets.token_hex(4)}"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory, instance: str) -> AsyncIterator[Site]:
    await kubernetes.make_namespace()
    folder = tmp_path_factory.mktemp("f")
    given = {"runtime_image": kubernetes.RUNTIME_IMAGE, "image": kubernetes.BUSYBOX, "namespace": kubernetes.NAMESPACE}
    given |= {"instance": instance, "workspace": "ephemeral"}
    config = folder / "kubernetes.toml"
    config.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in given.items()) + SETTINGS)
    redis = RedisServer(folder)
    await redis.start(durable=True)
    options = ("--provider", "kubernetes", "--kubernetes", str(config), "--store", redis.url)
    try:
        async with (
            supervised(),
            Stack(folder / "s", *options) as stack,
            hawse.connect(stack.base, token=stack.token, options=QUICK) as client,
        ):
            yield Site(instance, stack, redis, client)
    finally:
        await redis.kill()
        await kubernetes.clean(instance)


Phase = Callable[[Site, str, Callable[[], Awaitable[None]]], Awaitable[None]]


async def during_create(site: Site, id: str, kill: Callable[[], Awaitable[None]]) -> None:
    async with asyncio.TaskGroup() as tasks:
        create = tasks.create_task(outcome(site.client.sandboxes.create(id)))
        await site.until_pod(id, lambda pod: pod is not None)
        await kill()
        await create


async def during_exec(site: Site, id: str, kill: Callable[[], Awaitable[None]]) -> None:
    box = await site.client.sandboxes.create(id)
    runtime = (await box.runtime()).runtime
    async with box.processes.start(["sh", "-c", COUNT]) as run:
        received = [await anext(run.stdout)]
        await kill()
        error = await outcome(collect(run.stdout, received))
    if error is None:
        assert b"".join(received) == COUNTED
        assert (await box.runtime()).runtime == runtime
    else:
        assert COUNTED.startswith(b"".join(received)), "what has come is exact"
        assert await lost(box, runtime)


async def during_terminal(site: Site, id: str, kill: Callable[[], Awaitable[None]]) -> None:
    box = await site.client.sandboxes.create(id)
    runtime = (await box.runtime()).runtime

    async def use() -> None:
        async with box.terminals.open("t", argv=["cat"]) as terminal:
            await terminal.write(b"one\n")
            await terminal.expect("one")
            await kill()
            await terminal.write(b"two\n")
            await terminal.expect("two")

    if await outcome(use()) is not None:
        assert await lost(box, runtime)


async def during_code(site: Site, id: str, kill: Callable[[], Awaitable[None]]) -> None:
    """Kill during a run. What a run leaves, its variables and its output, ends with the runtime alone."""
    box = await site.client.sandboxes.create(id)
    runtime = (await box.runtime()).runtime
    received: list[bytes] = []
    status = ""

    async def use() -> None:
        nonlocal status
        async with box.code.create("python") as context:
            await context.run(f"lines = range(1, {LINES + 1})")
            async for event in context.stream(COUNT_IN_PYTHON):
                if isinstance(event, CodeStdout):
                    if not received:
                        await kill()
                    received.append(event.data)
                elif isinstance(event, CodeEnd):
                    status = event.status
            assert (await context.run("lines[-1]")).text == f"{LINES}"

    if await outcome(use()) is None:
        assert (status, b"".join(received)) == ("ok", COUNTED)
        assert (await box.runtime()).runtime == runtime
    else:
        assert COUNTED.startswith(b"".join(received)), "what has come is exact"
        assert await lost(box, runtime)


async def during_preview(site: Site, id: str, kill: Callable[[], Awaitable[None]]) -> None:
    box = await site.client.sandboxes.create(id)
    runtime = (await box.runtime()).runtime
    await box.files.write("index.html", PAGE)
    async with box.processes.start(["httpd", "-f", "-p", "8000"]) as server:
        await server.wait_for_port(8000, timeout=LIMIT)
        preview = await box.ports.expose(8000)
        async with viewed(site, preview) as reader:
            assert b" 200 " in await reader.readline()
            await kill()
            with suppress(OSError):  # it is cut off with its gateway or its pod
                await reader.read()

        async def goes_on_or_is_lost() -> bool:
            """It may be lost later: a pod that is deleted by force goes on until its node learns of it."""
            return await other_runtime(box, runtime) or await served(site, preview)

        await repeat(goes_on_or_is_lost)
        await outcome(server.kill())


@asynccontextmanager
async def viewed(site: Site, preview: Preview) -> AsyncIterator[asyncio.StreamReader]:
    """Ask for a preview. The name of its host need not resolve here."""
    host = urllib.parse.urlsplit(preview.url).netloc
    reader, writer = await asyncio.open_connection("127.0.0.1", site.stack.port)
    try:
        async with asyncio.timeout(LIMIT):
            writer.write(f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
            yield reader
    finally:
        writer.close()


async def served(site: Site, preview: Preview) -> bool:
    """Whether the page of a preview is complete."""
    async with viewed(site, preview) as reader:
        return PAGE in await reader.read()


async def during_stop(site: Site, id: str, kill: Callable[[], Awaitable[None]]) -> None:
    box = await site.client.sandboxes.create(id)
    await during_end(site, id, box.stop(), kill)


async def during_delete(site: Site, id: str, kill: Callable[[], Awaitable[None]]) -> None:
    box = await site.client.sandboxes.create(id)
    await during_end(site, id, box.delete(), kill)


def is_ending_or_gone(pod: Pod | None) -> bool:
    return pod is None or pod.metadata is None or pod.metadata.deletionTimestamp is not None


async def during_end(site: Site, id: str, end: Awaitable[object], kill: Callable[[], Awaitable[None]]) -> None:
    async with asyncio.TaskGroup() as tasks:
        ended = tasks.create_task(outcome(end))
        await site.until_pod(id, is_ending_or_gone)
        await kill()
        await ended


PHASES: Final[dict[str, Phase]] = {
    "create": during_create,
    "exec": during_exec,
    "terminal": during_terminal,
    "code": during_code,
    "preview": during_preview,
    "stop": during_stop,
    "delete": during_delete,
}


async def outcome(work: Awaitable[object]) -> hawse.HawseError | None:
    """Wait for some work, which may fail with an error of the fault; return that."""
    async with asyncio.timeout(LIMIT):
        try:
            await work
        except hawse.HawseError as error:
            assert error.code in REPORTED, repr(error)  # noqa: PT017
            return error
    return None


async def collect(chunks: AsyncIterator[bytes], received: list[bytes]) -> None:
    async for chunk in chunks:
        received.append(chunk)


async def lost(box: Sandbox, runtime: str) -> bool:
    """Whether the runtime of a sandbox has ended: the next call has another one."""
    return await repeat(lambda: other_runtime(box, runtime))


async def other_runtime(box: Sandbox, runtime: str) -> bool:
    return (await box.runtime()).runtime != runtime


async def repeat(work: Callable[[], Awaitable[bool]]) -> bool:
    """Repeat a call that fails because of the fault, or is not right yet, as its error says that one may."""
    await asked(lambda: right(work))
    return True


async def asked(work: Callable[[], Awaitable[bool]]) -> None:
    """Ask until the answer is yes. For what nothing reports, such as that a server answers again."""
    async with asyncio.timeout(LIMIT):
        while not await work():  # noqa: ASYNC110
            await asyncio.sleep(PAUSE)


async def right(work: Callable[[], Awaitable[bool]]) -> bool:
    try:
        return await work()
    except hawse.HawseError as error:
        assert error.code in REPORTED, repr(error)  # noqa: PT017
        return False


@pytest.mark.parametrize("part", ["gateway", "runtime", "pod", "kubelet", "apiserver", "redis"])
@pytest.mark.parametrize("phase", PHASES)
async def test_a_part_that_is_killed_is_survived_or_reported_and_leaves_nothing(
    site: Site, phase: str, part: str
) -> None:
    id = f"{phase}-{part}-{site.instance}"
    box = site.client.sandbox(id)
    await PHASES[phase](site, id, lambda: site.kill(part, id))
    await repeat(lambda: works_again(site, id, box))
    await repeat(lambda: removed(site, id))
    await eventually_nothing(site, id)


async def works_again(site: Site, id: str, box: Sandbox) -> bool:
    """Use the sandbox, whatever has become of it."""
    with suppress(hawse.NotFoundError):
        if (await box.info()).state == "stopped":
            await box.wake()
    if id not in {info.id for info in await site.client.sandboxes.list()}:
        await site.client.sandboxes.create(id)
    try:
        return (await box.exec(["/bin/sh", "-c", "echo again"])).stdout == b"again\n"
    except hawse.StoppedError:  # its end was not complete yet
        return False


async def removed(site: Site, id: str) -> bool:
    with suppress(hawse.NotFoundError):
        await site.client.sandbox(id).delete()
    return id not in {info.id for info in await site.client.sandboxes.list()}


async def eventually_nothing(site: Site, id: str) -> None:
    """Wait until the secret of the pod is deleted, and the processes of a pod that was deleted by force have ended."""

    async def nothing() -> bool:
        if site.runtimes(id):
            return False
        with suppress(ApiError, httpx2.HTTPError):
            found[:] = [each for each in await kubernetes.left(site.instance) if object_name(site.instance, id) in each]
            return not found
        return False

    found: list[str] = []
    try:
        await asked(nothing)
    except TimeoutError:
        raise AssertionError(f"there still are {found} and {site.runtimes(id)}") from None


@asynccontextmanager
async def down(name: str) -> AsyncIterator[None]:
    """Kill a component of the cluster, and start it again at the end."""
    component = ClusterProcess(name)  # type: ignore[arg-type]
    await component.kill()
    try:
        yield
    finally:
        await component.start()
        await until_ready()


async def until_ready() -> None:
    """Wait until the API answers."""

    async def answers() -> bool:
        with suppress(ApiError, httpx2.HTTPError):
            await kubernetes.left("none")
            return True
        return False

    await asked(answers)


async def test_while_the_api_is_down_what_runs_is_used_and_the_rest_is_unavailable(site: Site) -> None:
    box = await site.client.sandboxes.create("used")
    async with down("apiserver"):
        assert (await box.exec(["/bin/sh", "-c", "echo on"])).stdout == b"on\n"
        async with hawse.connect(site.stack.base, token=site.stack.token) as other:
            assert (await other.sandbox("used").exec(["/bin/sh", "-c", "echo on"])).stdout == b"on\n"
        with pytest.raises(hawse.UnavailableError, match="the cluster cannot be reached"):
            await site.client.sandboxes.create("not")
        with pytest.raises(hawse.HawseError, match="has not ended yet") as caught:
            await box.stop()
        assert (caught.value.code, caught.value.retryable) == ("cleanup_pending", True)
    for id in ("used", "not"):
        await repeat(lambda id=id: removed(site, id))  # type: ignore[misc]
        await eventually_nothing(site, id)


async def test_a_node_that_does_not_report_is_unavailable_until_it_does(site: Site) -> None:
    box = await site.client.sandboxes.create("on-it")

    def ready(pod: Pod | None) -> bool:
        conditions = [] if pod is None or pod.status is None else pod.status.conditions or []
        return any((each.type, each.status) == ("Ready", "True") for each in conditions)

    await site.until_pod("on-it", ready)  # what is not ready cannot become so
    async with down("kubelet"):
        with pytest.raises(hawse.UnavailableError, match="no node started the pod within 30 s"):
            await site.client.sandboxes.create("not")

        async def reported() -> bool:
            return (await box.info()).state == "failed"

        await asked(reported)
        assert (await box.info()).reason == "the pod's node is not reporting"
        with pytest.raises(hawse.UnavailableError, match="the pod's node is not reporting"):
            await box.wake()
            async with hawse.connect(site.stack.base, token=site.stack.token) as other:
                await other.sandbox("on-it").exec(["/bin/sh", "-c", ":"])

    async def runs() -> bool:
        return (await box.exec(["/bin/sh", "-c", "echo on"])).stdout == b"on\n"

    await repeat(runs)
    for id in ("on-it", "not"):
        await repeat(lambda id=id: removed(site, id))  # type: ignore[misc]
        await eventually_nothing(site, id)
