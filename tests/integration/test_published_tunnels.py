"""Tunnels with addresses from external providers: ports of a real SSH server, and a fake cloudflared."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import psutil
import pytest

import hawse
from hawse.client import Sandbox, Tunnel
from tests.support.http_clients import http_client
from tests.support.runtime import eventually, named
from tests.support.ssh_server import ssh_server
from tests.support.stack import Stack, free_port

TIMEOUT = 30.0  # s after which a waiting test fails
PORT = free_port()  # of the web server in the sandbox, which uses the machine's network

# Reports an address like cloudflared, and acts as a reverse proxy: it forwards connections to the Unix socket.
CLOUDFLARED = """\
#!/bin/sh
case "$*" in *' --url '*) ;; *) echo 'use --url for a quick tunnel' >&2; exit 1 ;; esac
test "$1" = tunnel && grep -q 'service: unix:socket$' config.yml || exit 1
printf '2026-11-24T09:06:49Z INF |  https://a-b-c.trycloudflare.com  |\\n' >&2
printf '2026-11-24T09:06:50Z INF Registered tunnel connection connIndex=0\\n' >&2
while :; do
    curl -s --unix-socket socket http://quick/index.html >{folder}/part && mv {folder}/part {folder}/got
    sleep 0.1
done
"""


@asynccontextmanager
async def serving(hw: hawse.Client) -> AsyncIterator[Sandbox]:
    """A sandbox with a web server."""
    async with hw.sandboxes.create("demo") as box:
        await box.files.write_text("index.html", "published")
        server = await box.processes.start(["python3", "-m", "http.server", str(PORT), "--bind", "127.0.0.1"])
        await server.wait_for_port(PORT)
        yield box


async def page(tunnel: Tunnel) -> str:
    assert tunnel.url is not None
    async with http_client(tunnel.url.replace("tcp:", "http:"), timeout=TIMEOUT) as http:
        return (await http.get("/index.html")).text


async def until_reachable(box: Sandbox) -> Tunnel:
    """Wait until the only tunnel has an address again. Polls, since no event reports that."""
    async with asyncio.timeout(TIMEOUT):
        while (tunnel := (await box.tunnels.list())[0]).url is None:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        return tunnel


async def until_replaced(stack: Stack, program: psutil.Process) -> None:
    """Wait until a program has ended and a new one is running, so that the gateway has noticed the end."""
    name = program.name()
    program.kill()
    await eventually(lambda: programs(stack, name) not in ([], [program]))


def programs(stack: Stack, name: str) -> list[psutil.Process]:
    return named(name, psutil.Process(stack.pid).children(recursive=True))


async def test_a_tunnel_through_an_ssh_server_survives_its_program_and_the_gateway(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ssh_server(tmp_path / "ssh") as path:
        monkeypatch.setenv("PATH", str(path), prepend=":")
        async with (
            Stack(tmp_path / "state", "--tunnel-ssh", "localhost") as stack,
            hawse.connect(stack.base, token=stack.token) as hw,
            serving(hw) as box,
        ):
            tunnel = await box.tunnels.create(PORT, name="site", provider="ssh")
            assert (tunnel.kind, tunnel.provider, tunnel.problem) == ("tcp", "ssh", None)
            assert await page(tunnel) == "published"
            again = await box.tunnels.create(PORT, name="site", provider="ssh", expires_in=3600)
            assert (again.url, again.expires is None) == (tunnel.url, False)
            with pytest.raises(hawse.HawseError, match="has another port") as raised:
                await box.tunnels.create(PORT, name="site", provider="ssh", public_port=1)
            assert raised.value.code == "conflict"

            (program,) = programs(stack, "ssh")
            await until_replaced(stack, program)
            assert (await until_reachable(box)).url == tunnel.url
            assert await page(tunnel) == "published"

            (program,) = programs(stack, "ssh")
            await stack.kill()
            await asyncio.to_thread(psutil.wait_procs, [program], TIMEOUT)
            assert not program.is_running()
            await stack.start()
            assert (await until_reachable(box)).url == tunnel.url
            assert await page(tunnel) == "published"

            (program,) = programs(stack, "ssh")
            await box.tunnels.delete("site")
            await asyncio.to_thread(psutil.wait_procs, [program], TIMEOUT)
            assert not program.is_running()
            with pytest.raises(httpx.TransportError):
                await page(tunnel)


async def test_a_tunnel_of_an_unreachable_server_is_not_created(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ssh_server(tmp_path / "ssh") as path:
        (tmp_path / "ssh" / "user.pub").write_text("")
        monkeypatch.setenv("PATH", str(path), prepend=":")
        async with (
            Stack(tmp_path / "state", "--tunnel-ssh", "localhost") as stack,
            hawse.connect(stack.base, token=stack.token) as hw,
        ):
            box = hw.sandbox()
            with pytest.raises(hawse.HawseError, match=r"ssh assigned no address: .*Permission denied") as raised:
                await box.tunnels.create(PORT, provider="ssh")
            assert raised.value.code == "unavailable"
            assert await box.tunnels.list() == []
            with pytest.raises(hawse.HawseError, match="--tunnel-cloudflared") as raised:
                await box.tunnels.create(PORT, provider="cloudflared")
            assert raised.value.code == "unavailable"
            with pytest.raises(hawse.HawseError, match="have the kind tcp") as raised:
                await box.tunnels.create(PORT, provider="ssh", kind="http")
            assert raised.value.code == "invalid_params"


async def test_cloudflared_reaches_the_port_through_its_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "cloudflared").write_text(CLOUDFLARED.format(folder=folder))
    (folder / "cloudflared").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    async with (
        Stack(tmp_path / "state", "--tunnel-cloudflared") as stack,
        hawse.connect(stack.base, token=stack.token) as hw,
        serving(hw) as box,
    ):
        tunnel = await box.tunnels.create(PORT, name="quick", provider="cloudflared")
        assert (tunnel.url, tunnel.kind) == ("https://a-b-c.trycloudflare.com", "http")
        async with asyncio.timeout(TIMEOUT):
            while not (folder / "got").exists():  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert (folder / "got").read_text() == "published"
        async with http_client(stack.base, timeout=TIMEOUT) as http:  # the provider has the only address of this tunnel
            assert (await http.get("/t/quick/index.html")).status_code == 404
        visits = [entry for entry in await hw.audit.list() if entry.user == "tunnel quick"]
        assert visits[0].action == "preview"
        await box.tunnels.delete("quick")
