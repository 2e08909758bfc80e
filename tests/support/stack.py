"""A real gateway, started as a user would, with real runtimes. All of them end with the test."""

import asyncio
import os
import random
import re
import signal
import socket
import sys
from collections.abc import Container, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import httpx
import psutil

from hawse_gateway.providers.isolation import cgroups
from hawse_gateway.providers.runtime_process import RuntimeProcess
from tests.support.http_clients import http_client

START_SECONDS = 30  # seconds for a gateway to start, or to end on request


# Below the kernel's range for outgoing connections (ip_local_port_range starts at 32768). Another test's connection
# could take a port of that range before this test's server listens on it.
PORTS = range(10_240, 32_768)


def free_port() -> int:
    """Return a random TCP port of 127.0.0.1 without a listener. Tests in other processes choose different ports."""
    chance = random.SystemRandom()  # hypothesis seeds the module's own generator equally in each process
    while True:
        port = chance.choice(PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


class Stack:
    """`hawse serve` with its own port and state directory. A killed gateway can be restarted."""

    def __init__(
        self,
        state: Path,
        *arguments: str,
        isolation: str = "none",
        under: Sequence[str] = (),
        certificate: tuple[Path, Path] | None = None,
    ) -> None:
        """Prepare a gateway; `start` starts it.

        Args:
            state: Its state directory.
            arguments: Further arguments of `hawse serve`.
            isolation: The isolation of its sandboxes.
            under: A command that runs the gateway, such as `prlimit --nofile=256`. It must exec the gateway.
            certificate: Its certificate and key, to serve TLS.
        """
        self.state = state
        self._under = under
        self._certificate = certificate
        tls = () if certificate is None else ("--tls-cert", str(certificate[0]), "--tls-key", str(certificate[1]))
        self._arguments = (*arguments, *tls)
        self.port = free_port()
        self.isolation = isolation
        self.url = ""  # the printed URL: http://127.0.0.1:PORT/#token=…
        self._process: asyncio.subprocess.Process | None = None
        self._output: asyncio.Task[None] | None = None
        self.printed: list[str] = []
        self.viewer_token = ""  # the token with the role `viewer`, created by the first start

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def base(self) -> str:
        return f"{'http' if self._certificate is None else 'https'}://127.0.0.1:{self.port}"

    @property
    def token(self) -> str:
        return self.url.partition("#token=")[2]

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    async def start(self) -> None:
        argv = ["-m", "hawse.cli", "serve", "--port", str(self.port), "--state", str(self.state)]
        self._process = await asyncio.create_subprocess_exec(
            *self._under,
            sys.executable,
            *argv,
            "--isolation",
            self.isolation,
            "--wrong-tokens=1000000",  # all tests use one address, and some try many tokens
            *self._arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={k: v for k, v in os.environ.items() if not k.startswith("HAWSE_")},
        )
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._output = asyncio.create_task(self._follow(self._process, ready))
        async with asyncio.timeout(START_SECONDS):
            self.url = await ready
        if not self.viewer_token:
            self.viewer_token = await self._create_token("viewer")

    async def _create_token(self, role: str) -> str:
        async with self._http() as http:
            token: str = (await _post(http, "token.create", role=role, user=role))["token"]
        return token

    def _http(self) -> httpx.AsyncClient:
        headers = {"Authorization": f"Bearer {self.token}"}
        return http_client(self.base, headers=headers, timeout=START_SECONDS)

    async def renew(self) -> None:
        """Reset the gateway for the next test: delete all sandboxes, and start a new sandbox `local`."""
        if self._process is None or self._process.returncode is not None:
            await self.start()
        async with self._http() as http:
            for sandbox in (await _post(http, "sandbox.list"))["sandboxes"]:
                await _post(http, "sandbox.delete", id=sandbox["id"])
            await _post(http, "sandbox.create", id="local")

    async def kill(self) -> None:
        """Kill the gateway with SIGKILL; its runtimes continue."""
        assert self._process is not None
        assert self._output is not None
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
        await self._output

    def lose_store(self) -> None:
        """Delete the store of the stopped gateway."""
        for file in self.state.glob("store.db*"):
            file.unlink()

    async def terminate(self) -> int:
        """Ask the gateway to stop, like Ctrl-C or a service manager; return its exit code."""
        assert self._process is not None
        assert self._output is not None
        self._process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(START_SECONDS):
            code = await self._process.wait()
        await self._output
        return code

    async def close(self) -> None:
        if self._process is not None and self._process.returncode is None:
            await self.kill()
        processes = [
            *self.runtimes(),
            *self._recorded("sandboxes/*/egress/process"),
            *self._recorded("mounts/*/process"),
        ]
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.terminate()
        _, alive = await asyncio.to_thread(psutil.wait_procs, processes, 10)
        for process in alive:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        for file in (*self.state.glob("sandboxes/*/cgroups"), *self.state.glob("sandboxes/*/egress/cgroups")):
            with suppress(OSError):  # the kernel has not removed the last process yet
                cgroups.remove(file)

    def runtimes(self, sandbox: str | None = None) -> list[psutil.Process]:
        """Return the runtimes of this state directory, or of one sandbox, with or without bubblewrap."""
        ours = []
        for file in self.state.glob("sandboxes/*/process"):
            recorded = RuntimeProcess.load(file)
            with suppress(psutil.Error):
                if recorded is not None and recorded.alive:
                    process = psutil.Process(recorded.pid)
                    ours += [process, *process.children(recursive=True)]
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                words = process.cmdline()
                if "hawse_runtime" in words and any(str(self.state) in word for word in words):
                    ours += [process, *process.children(recursive=True)]
        return only_runtimes(ours, sandbox)

    def _recorded(self, files: str) -> list[psutil.Process]:
        """Return the recorded processes of mounts or filtered networks, which outlive the gateway."""
        processes = []
        for each in map(RuntimeProcess.load, self.state.glob(files)):
            with suppress(psutil.NoSuchProcess):
                if each is not None and each.alive:
                    processes.append(psutil.Process(each.pid))
        return processes

    async def _follow(self, process: asyncio.subprocess.Process, ready: asyncio.Future[str]) -> None:
        assert process.stdout is not None
        async for line in process.stdout:
            text = line.decode(errors="replace").rstrip()
            self.printed.append(text)
            # The last line that the gateway prints.
            if not ready.done() and (found := re.search(r"https?://\S+#token=[^\s\"]+", text)):
                ready.set_result(found[0])
        if not ready.done():
            ready.set_exception(RuntimeError("the gateway did not start:\n" + "\n".join(self.printed)))


async def _post(http: httpx.AsyncClient, method: str, **params: str) -> dict[str, Any]:
    """Call a method of the gateway; return the result."""
    answer = await http.post(f"/v1/{method}", json=params)
    assert answer.is_success, f"{method}: {answer.text}"
    result: dict[str, Any] = answer.json()
    return result


async def post(stack: Stack, path: str, params: dict[str, Any]) -> tuple[int, str | None]:
    """Make one request without retries; return its status, and the code of its error."""
    headers = {"Authorization": f"Bearer {stack.token}"}
    async with http_client(stack.base, headers=headers, timeout=60) as http:
        answer = await http.post(path, json=params)
    return answer.status_code, answer.json().get("code")


def only_runtimes(processes: Iterable[psutil.Process], sandbox: str | None = None) -> list[psutil.Process]:
    """Return the running runtimes among `processes`, or the runtime of one sandbox."""
    found = {process.pid: process for process in processes if _is_runtime(process, sandbox)}
    # A forked child of a runtime has the runtime's arguments until it executes its program.
    return [process for process in found.values() if not _has_ended_or_parent(process, found)]


def _has_ended_or_parent(process: psutil.Process, parents: Container[int]) -> bool:
    """Return whether a process has ended, or its parent is one of `parents`."""
    with suppress(psutil.NoSuchProcess):
        return process.ppid() in parents
    return True


def _is_runtime(process: psutil.Process, sandbox: str | None) -> bool:
    with suppress(psutil.Error):
        words = process.cmdline()
        if bool(words) and "python" in words[0] and "hawse_runtime" in words:  # empty because the process is ending
            return sandbox is None or sandbox in words
    return False
