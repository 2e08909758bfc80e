"""Measure sandboxes in pods, with two gateways on one Redis server, with and without a pool, compared with bare pods.

`KUBECONFIG=… python -m bench.pods [--rounds N] [--pods N]` prints a table. It needs the images built by `make
kubernetes-images`. It also proves that concurrent creations never get the same pool member, that the pool of a changed
template is replaced, and that nothing is left behind.
"""

import argparse
import asyncio
import itertools
import os
import secrets
import statistics
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import uvloop
from lightkube import AsyncClient
from lightkube.resources.core_v1 import Pod

import hawse
from bench.sandboxes import at_once, first_command, temporary
from hawse.client import Client
from hawse_gateway.providers.kubernetes import pod_state
from hawse_gateway.providers.kubernetes.cluster import Cluster
from hawse_gateway.providers.kubernetes.manifests import labels
from hawse_gateway.providers.kubernetes.objects import PODS
from tests.support import kubernetes
from tests.support.redis import redis_server
from tests.support.stack import Stack

POOL: Final = 4
AT_ONCE: Final = 8
TARGETS: Final = {"from the pool, ms": 150.0, "cold, ms": 2000.0}
REQUESTS: Final = "resources.requests = { cpu = '10m', memory = '32Mi' }"  # so small that many pods fit on a small node


async def main(rounds: int, pods: int) -> None:
    print(f"load before: {os.getloadavg()[0]:.1f}; {rounds} rounds, median (minimum to maximum)")
    await kubernetes.make_namespace()
    instance = f"b{secrets.token_hex(4)}"
    try:
        with temporary() as name:
            folder = Path(name)
            async with redis_server(folder) as url:
                async with gateways(folder, url, instance, "--pool", str(POOL)) as (one, other):
                    turns = itertools.cycle((one, other))
                    report("from the pool, ms", [await pooled(next(turns), instance) for _ in range(rounds)])
                    cold, beside = [], []
                    for number in range(rounds):  # alternating, because the load changes
                        beside.append(await bare(instance, number))
                        cold.append(await first_command(next(turns), network="host"))
                    report("bare pod, to Running, ms", beside)
                    report("cold, ms", cold)
                    await prove_claims(one, other, instance)
                await prove_templates(folder, url, instance)
                async with gateways(folder, url, instance) as (one, other):
                    await many(one, other, pods)
                    await until_nothing_is_left(instance)  # the gateways delete the members of the earlier pools
    finally:
        await kubernetes.clean(instance)


def report(name: str, values: Sequence[float]) -> None:
    """Print a row of the table."""
    target, median = TARGETS.get(name), statistics.median(values)
    verdict = "" if target is None else f"  target ≤ {target:g}: {'met' if median <= target else 'MISSED'}"
    print(f"{name:32}{median:9.1f}  ({min(values):.1f} to {max(values):.1f}){verdict}", flush=True)


@asynccontextmanager
async def gateways(folder: Path, url: str, instance: str, *options: str) -> AsyncIterator[tuple[Client, Client]]:
    """Start two gateways. At the end, delete all sandboxes of clients."""
    settings = folder / "kubernetes.toml"
    settings.write_text(
        f"runtime_image = '{kubernetes.RUNTIME_IMAGE}'\nimage = '{kubernetes.BUSYBOX}'\ninstance = '{instance}'\n"
        f"namespace = '{kubernetes.NAMESPACE}'\nworkspace = 'ephemeral'\n"
        "gateways = [{ ipBlock.cidr = '0.0.0.0/0' }]\n"
        f"[[pod.spec.containers]]\nname = 'sandbox'\nimagePullPolicy = 'Never'\n{REQUESTS}\n"
        "[[pod.spec.containers]]\nname = 'runtime'\nimagePullPolicy = 'Never'\n"
    )
    more = ("--provider", "kubernetes", "--kubernetes", str(settings), "--store", url, *options)
    async with (
        Stack(folder / "state", *more) as first,
        Stack(folder / "state", *more) as second,
        hawse.connect(first.base, token=first.token) as one,
        hawse.connect(second.base, token=second.token) as other,
    ):
        yield one, other
        await at_once(AT_ONCE, (one.sandbox(info.id).delete for info in await one.sandboxes.list()))


async def bare(instance: str, number: int) -> float:
    """Return the milliseconds from creating a pod with one container to its phase Running."""
    name = f"{instance}-{number}"
    container: dict[str, Any] = {
        "name": "c",
        "image": kubernetes.BUSYBOX,
        "imagePullPolicy": "Never",
        "command": ["sleep", "1000"],
    }
    container["securityContext"] = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    security = {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}}
    pod = {
        "metadata": {"name": name, "labels": labels(f"{instance}-bare")},
        "spec": {"terminationGracePeriodSeconds": 0, "securityContext": security, "containers": [container]},
    }
    async with AsyncClient(namespace=kubernetes.NAMESPACE) as cluster:
        begin = time.perf_counter()
        await cluster.create(Pod.from_dict(pod))  # type: ignore[call-overload]
        async for _, seen in cluster.watch(Pod, fields={"metadata.name": name}):
            if seen.status is not None and seen.status.phase == "Running":
                break
        took = (time.perf_counter() - begin) * 1e3
        await cluster.delete(Pod, name)
    return took


async def running(instance: str) -> set[str]:
    """Return the pods of the running sandboxes."""
    cluster = Cluster(kubernetes.settings(instance))
    try:
        pages = [page async for _, page in cluster.objects(PODS).pages()]
    finally:
        await cluster.close()
    return {pod.name for page in pages for pod in page if pod_state.address(pod) is not None}


async def until(instance: str, right: Callable[[set[str]], bool]) -> set[str]:
    """Wait until the pods of an instance are `right` and their runtimes accept calls."""
    async with asyncio.timeout(120):
        while not right(found := await running(instance)):  # noqa: ASYNC110
            await asyncio.sleep(0.2)
    await asyncio.sleep(SETTLE)
    return found


SETTLE: Final = 2.0  # seconds from a running pod until its runtime accepts links and its row in the store says so


async def pooled(hw: Client, instance: str) -> float:
    """Return the milliseconds of a creation while the pool is full."""
    await until(instance, lambda found: len(found) == POOL)
    return await first_command(hw)


async def prove_claims(one: Client, other: Client, instance: str) -> None:
    """Create twice as many sandboxes as the pool has members, on both gateways at once. Their runtimes must differ."""
    members = await until(instance, lambda found: len(found) == POOL)
    boxes = await asyncio.gather(*(hw.sandboxes.create() for hw in (one, other) for _ in range(POOL)))
    runtimes = [(await box.runtime()).runtime for box in boxes]
    assert len(set(runtimes)) == len(boxes), "two sandboxes have the same runtime"
    pods = await running(instance)
    assert members <= pods
    print(
        f"{len(boxes)} creations at once at two gateways: {len(set(runtimes))} runtimes, {POOL} of them from the pool"
    )
    await at_once(AT_ONCE, (box.delete for box in boxes))
    await until(instance, lambda found: len(found) == POOL and not found & members)
    print("the pool is full again with other pods")


async def prove_templates(folder: Path, url: str, instance: str) -> None:
    """Change a template. The members of the old version must end, and members of the new version must start."""
    templates = folder / "templates.toml"
    templates.write_text("[t]\npool = 2\nlimits = { memory = 268435456 }\n")
    async with gateways(folder, url, instance, "--templates", str(templates)):
        before = await until(instance, lambda found: len(found) == 2)
    templates.write_text("[t]\npool = 3\nlimits = { memory = 134217728 }\n")
    async with gateways(folder, url, instance, "--templates", str(templates)):
        await until(instance, lambda found: len(found) == 3 and not found & before)
    print("after a change of the template, its pool has other pods")


async def until_nothing_is_left(instance: str) -> None:
    left: list[str] = []
    try:
        async with asyncio.timeout(120):
            while left := await kubernetes.left(instance):  # noqa: ASYNC110  # the cluster deletes the secrets
                await asyncio.sleep(0.5)
    except TimeoutError:
        raise SystemExit(f"left in the cluster: {', '.join(left)}") from None
    print("nothing is left in the cluster")


async def many(one: Client, other: Client, count: int) -> None:
    """Start many pods through both gateways, use each one through the other gateway, and delete them."""
    begin = time.perf_counter()

    def work(number: int) -> Callable[[], object]:
        async def create() -> None:
            made, used = (one, other) if number % 2 else (other, one)
            box = await made.sandboxes.create(f"many-{number}")
            answer = await used.sandbox(box.id).exec(f"echo {number}")
            assert answer.stdout == b"%d\n" % number

        return create

    await at_once(AT_ONCE, (work(number) for number in range(count)))  # type: ignore[misc]
    started = time.perf_counter()
    await at_once(AT_ONCE, (one.sandbox(f"many-{number}").delete for number in range(count)))
    ended = time.perf_counter()
    print(f"{count} pods started and used in {started - begin:.1f} s, deleted in {ended - started:.1f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.pods")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--pods", type=int, default=50, help="number of concurrent pods")
    args = parser.parse_args()
    assert kubernetes.HAS_CLUSTER, "KUBECONFIG and HAWSE_KUBERNETES_LOAD must be set"
    uvloop.run(main(args.rounds, args.pods))
