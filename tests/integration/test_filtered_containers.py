"""Filtered networks of containers: images, killed processes, and leftovers.

test_egress.py tests allowed and blocked access, for each provider.
"""

import json
import os
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psutil
import pytest
import pytest_asyncio

import hawse
from hawse.client import Client, EgressPolicy, Sandbox, SandboxCreation
from hawse_gateway.providers.docker.container import TRUSTED
from hawse_gateway.providers.isolation import cgroups
from tests.support import docker
from tests.support.docker_stack import OWN_CERTIFICATE, TOOLS, DockerStack
from tests.support.filtered import DOCKER, World, made, output
from tests.support.runtime import eventually

pytestmark = [docker.needs_engine, pytest.mark.asyncio(loop_scope="module")]
POLICY = EgressPolicy(allow=["api.test:*", "plain.test:*"], secrets=["api"])


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with made(tmp_path_factory.mktemp("filtered")) as world:
        yield world


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stack(world: World) -> AsyncIterator[DockerStack]:
    stack = DOCKER.stack(world)
    assert isinstance(stack, DockerStack)
    async with stack:
        yield stack


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hw(stack: DockerStack) -> AsyncIterator[Client]:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        yield hw


def filtered(hw: Client, id: str, image: str | None = None) -> SandboxCreation:
    return hw.sandboxes.create(id, image=image, network="filtered", egress=POLICY)


def proxy_of(stack: DockerStack, box: Sandbox) -> psutil.Process:
    text = (stack.state / "sandboxes" / box.id / "egress" / "process").read_text()
    return psutil.Process(int(text.split()[0]))


@pytest.mark.parametrize("image", [docker.BUSYBOX, docker.MUSL, docker.SCRATCH, docker.LINKS])
async def test_programs_use_the_proxy_in_every_image(world: World, stack: DockerStack, hw: Client, image: str) -> None:
    async with filtered(hw, f"in-{image}", image) as box, box.code.create("python") as context:
        code = f"""
import os, urllib.request
url = "https://api.test:{world.api.port}/"
found = {{path: open(path, "rb").read() for path in {TRUSTED!r}}}
writable = [path for path in found if os.access(path, os.W_OK)]
named = found[os.environ["SSL_CERT_FILE"]]
(urllib.request.urlopen(url).status, len(set(found.values())), writable, b"BEGIN CERTIFICATE" in named)
"""
        done = await context.run(code)
        assert (done.error, done.text) == (None, "(200, 1, [], True)")
        if image != docker.SCRATCH:
            fetched = await output(box, f"wget -q -O - http://plain.test:{world.plain.port}/")
            assert '"method": "GET"' in fetched
            assert "403" in await output(box, f"wget -q -O - http://other.test:{world.plain.port}/")


async def test_programs_that_read_no_variable_find_the_certificates_in_place_of_those_of_the_image(
    world: World, hw: Client
) -> None:
    async with filtered(hw, "system") as box:
        variables = " ".join(f"-u {name}" for name in ("CURL_CA_BUNDLE", "SSL_CERT_FILE"))
        done = await output(box, f"env {variables} curl -sS https://api.test:{world.api.port}/")
        assert '"method": "GET"' in done, done
        for path in TRUSTED:
            assert (await box.exec(["/bin/cat", path])).stdout.count(OWN_CERTIFICATE) == 0, path
    async with hw.sandboxes.create(image=TOOLS) as box:
        assert (await box.exec(["/bin/cat", "/etc/ssl/cert.pem"])).stdout == OWN_CERTIFICATE, "the image is the same"


async def test_programs_can_neither_signal_the_thread_that_hands_the_socket_over_nor_take_its_place(
    world: World, hw: Client
) -> None:
    async with filtered(hw, "threads") as box:
        code = """
import os, signal, socket, sys
allowed = []
for pid in filter(str.isdigit, os.listdir("/proc")):
    if b"hawse_runtime" in open(f"/proc/{pid}/cmdline", "rb").read():
        for thread in os.listdir(f"/proc/{pid}/task"):
            try:
                os.kill(int(thread), signal.SIGKILL)
                allowed.append(thread)
            except PermissionError:
                pass
for path in ("/hawse/socket/egress.sock", "/hawse/socket"):
    try:
        os.stat(path) if path.endswith("socket") and os.listdir(path) else socket.socket(socket.AF_UNIX).connect(path)
        allowed.append(path)
    except PermissionError:
        pass
try:
    socket.create_server(("127.0.0.1", 3128))
    allowed.append("the port")
except OSError:
    pass
print(allowed)
"""
        await box.files.write("try.py", code.encode())
        assert await output(box, "python3 try.py") == "[]"
        assert '"GET"' in await output(box, f"curl -sS https://api.test:{world.api.port}/")


async def test_a_proxy_ends_with_a_container_that_is_killed_and_the_next_start_has_another(
    world: World, stack: DockerStack, hw: Client
) -> None:
    async with filtered(hw, "killed") as box:
        fetch = f"curl -sS https://api.test:{world.api.port}/"
        assert '"GET"' in await output(box, fetch)
        first = proxy_of(stack, box)
        container = docker.container_of(stack.gateway, box.id)
        docker.ask("POST", f"/containers/{container['Id']}/kill")
        await eventually(lambda: not first.is_running() or first.status() == psutil.STATUS_ZOMBIE)
        assert '"GET"' in await output(box, fetch)
        assert proxy_of(stack, box) != first


async def test_a_proxy_that_is_killed_while_its_container_is_paused_is_replaced_when_it_goes_on(
    world: World, stack: DockerStack, hw: Client
) -> None:
    async with filtered(hw, "paused") as box:
        first = proxy_of(stack, box)
        await box.pause()
        os.kill(first.pid, signal.SIGKILL)
        await box.resume()
        assert '"GET"' in await output(box, f"curl -sS https://api.test:{world.api.port}/")
        assert proxy_of(stack, box) != first


async def test_nothing_is_left_of_a_sandbox_that_is_deleted(stack: DockerStack, hw: Client) -> None:
    box = await filtered(hw, "deleted")
    proxy = proxy_of(stack, box)
    home = stack.state / "sandboxes" / box.id
    places = [Path(text) for text in _list(home / "egress" / "cgroups")]
    assert places or cgroups.find() is None, "its limits"
    await box.delete()
    assert not proxy.is_running()
    assert not home.exists()
    assert not any(place.exists() for place in places)
    assert [name for name in docker.left(stack.gateway) if box.id in name] == []
    assert docker.mounts(home) == []


def _list(file: Path) -> list[str]:
    found: list[str] = json.loads(file.read_text()) if file.exists() else []
    return found
