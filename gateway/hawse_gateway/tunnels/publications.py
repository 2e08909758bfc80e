"""Tunnels with addresses from other providers. For each tunnel, a program connects to one of the gateway's Unix
sockets.

If a program exits, it is restarted, with a longer pause after each failure. A program is ended when its tunnel or the
gateway ends.
"""

import asyncio
import logging
import os
import shutil
import signal
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from hawse.link.sockets import socket_address
from hawse.wire import HawseError
from hawse_gateway.store.base import ConflictError
from hawse_gateway.tunnels.connections import TunnelConnections
from hawse_gateway.tunnels.program import run_program
from hawse_gateway.tunnels.providers import SOCKET, PublicAddressProvider
from hawse_gateway.tunnels.table import TunnelRecord, TunnelTable

log = logging.getLogger(__name__)

PAUSE: Final = 1.0  # seconds before a program is restarted; doubled after each failure
PAUSE_MAX: Final = 60.0  # seconds; after a program has run for longer than this, the pause is reset to PAUSE
BACKLOG: Final = 128  # maximum number of connections in the accept queue


class Publication:
    """A tunnel's current address, or the reason why it has none.

    Attributes:
        url: The address, or None.
        problem: Why there is no address. None until the program has reported a problem.
    """

    def __init__(self) -> None:
        self.url: str | None = None
        self.problem: str | None = None
        self._changed = asyncio.Event()

    def update(self, url: str | None, problem: str | None) -> None:
        """Set the address, or the reason why there is none."""
        self.url, self.problem = url, problem
        self._changed.set()

    async def settled(self) -> None:
        """Wait until there is an address or a problem."""
        await self._changed.wait()


class Publications:
    """All tunnels' publications. `run` runs their programs."""

    def __init__(
        self,
        table: TunnelTable,
        providers: Mapping[str, PublicAddressProvider],
        connections: TunnelConnections,
        root: Path,
        *,
        pause: float = PAUSE,
    ) -> None:
        """Create an instance without starting any programs.

        Args:
            table: The tunnels.
            providers: The enabled providers, keyed by name.
            connections: Serves the programs' connections.
            root: The parent directory for the tunnels' directories. `run` empties this directory at the start and at
                the end.
            pause: Seconds before a program is restarted.
        """
        self._table = table
        self._providers = providers
        self._connections = connections
        self._root = root
        self._pause = pause
        self._running: dict[str, tuple[TunnelRecord, Publication, asyncio.Task[None]]] = {}
        self._tasks: asyncio.TaskGroup | None = None  # only set while `run` is running
        self._begun = asyncio.Event()
        self._changing = asyncio.Lock()
        self._wake = asyncio.Event()

    def find(self, record: TunnelRecord) -> Publication | None:
        """Return a tunnel's publication, or None if the tunnel doesn't exist or its provider is not enabled."""
        running = self._running.get(record.name)
        return running[1] if running is not None and running[0].leads_where(record) else None

    async def run(self) -> None:
        """Run the programs of all tunnels until cancelled."""
        stop = self._table.listen(self._wake.set)
        try:
            await asyncio.to_thread(self._clear)
            async with asyncio.TaskGroup() as self._tasks:
                self._begun.set()
                while True:
                    self._wake.clear()
                    await self._reconcile()
                    await self._wake.wait()
        finally:
            stop()
            self._tasks = None
            self._begun.set()
            self._running.clear()
            self._clear()

    async def start(self, record: TunnelRecord) -> Publication:
        """Start a new tunnel's program unless it is running. Return the publication, which may not have an address yet.

        Raises:
            HawseError: `unavailable` if the gateway is stopping.
        """
        await self._begun.wait()
        async with self._changing:
            if (found := self.find(record)) is not None:
                return found
            await self._stop(record.name)
            if self._tasks is None:
                raise HawseError("unavailable", "the gateway is stopping")
            publication = Publication()
            task = self._tasks.create_task(self._publish(record, publication), name=f"tunnel {record.name}")
            self._running[record.name] = (record, publication, task)
            return publication

    async def _reconcile(self) -> None:
        """Start and end programs to match the existing tunnels."""
        wanted = {record.name: record for record in self._table.of_others() if record.provider in self._providers}
        for name in self._running.keys() - wanted.keys():
            async with self._changing:
                await self._stop(name)
        for record in wanted.values():
            await self.start(record)

    async def _stop(self, name: str) -> None:
        running = self._running.pop(name, None)
        if running is not None:
            running[2].cancel()
            await asyncio.wait([running[2]])

    def _clear(self) -> None:
        """Remove directories left behind by an earlier gateway. Blocks briefly."""
        shutil.rmtree(self._root, ignore_errors=True)

    async def _publish(self, record: TunnelRecord, publication: Publication) -> None:
        """Run a tunnel's program repeatedly, until cancelled."""
        loop = asyncio.get_running_loop()
        pause = self._pause
        while True:
            since = loop.time()
            said = await self._serve(record, publication)
            publication.update(None, said)
            log.warning("! tunnel %s has no address: %s", record.name, said)
            if loop.time() - since > PAUSE_MAX:  # a long run is not a failure, so the pause is reset
                pause = self._pause
            await asyncio.sleep(pause)
            pause = min(pause * 2, PAUSE_MAX)

    async def _serve(self, record: TunnelRecord, publication: Publication) -> str:
        """Run a tunnel's program once, and serve its connections. Return the reason why it exited."""
        provider, home = self._providers[record.provider], self._root / record.name
        said = ""
        try:
            with self._prepare(home, provider) as listener:
                async with asyncio.TaskGroup() as tasks:
                    serving = tasks.create_task(self._connections.serve(record, listener))
                    said = await self._run(record, provider, publication, home)
                    serving.cancel()
        except* OSError as errors:
            said = f"the gateway cannot run its program: {errors.exceptions[0]}"
        except* Exception:  # a bug that affects one tunnel must not affect the others
            log.exception("! tunnel %s", record.name)
            said = "it failed because of a bug: see the gateway's log"
        finally:
            shutil.rmtree(home, ignore_errors=True)
        return said

    def _prepare(self, home: Path, provider: PublicAddressProvider) -> socket.socket:
        """Create a tunnel's directory and listening socket. Raises `OSError`."""
        home.mkdir(mode=0o700, parents=True)
        for name, text in provider.files.items():
            (home / name).write_text(text)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with socket_address(home / SOCKET) as address:
                listener.bind(address)
            listener.listen(BACKLOG)
            listener.setblocking(False)
        except OSError:
            listener.close()
            raise
        return listener

    async def _run(
        self, record: TunnelRecord, provider: PublicAddressProvider, publication: Publication, home: Path
    ) -> str:
        """Run a tunnel's program once. Return the reason why it exited. Raises `OSError`."""
        try:
            program = find_program(provider)
        except HawseError as error:
            return error.message
        known = self._table.find(record.name)
        port = None if known is None else known.remote_port
        output = provider.output()

        async def read_line(line: str) -> None:
            published = output.read(line)
            if published is not None and published.url != publication.url:
                publication.update(published.url, None)
                log.info("= tunnel %s has the address %s", record.name, published.url)
                if published.port != port:
                    await self._remember(record, published.port)

        environment = provider.environment(os.environ)
        code = await run_program([program, *provider.arguments(port)], read_line, folder=home, environment=environment)
        end = f"with code {code}" if code >= 0 else f"by {signal.Signals(-code).name}"
        return output.said or f"{provider.program} has ended {end}"

    async def _remember(self, record: TunnelRecord, port: int | None) -> None:
        """Store a tunnel's port, so that the next start can request the same one."""
        known = self._table.find(record.name)
        if known is None or not known.leads_where(record):
            return
        try:
            await self._table.put(msgspec.structs.replace(known, remote_port=port))
        except (ConflictError, HawseError) as error:
            log.warning("! cannot record the port of tunnel %s: %s", record.name, error)


def find_program(provider: PublicAddressProvider) -> str:
    """Return the path to a provider's program. Raises `HawseError` (`unavailable`) if it is not installed."""
    path = shutil.which(provider.program)
    if path is None:
        text = f"the gateway's machine lacks {provider.program}: {provider.install}"
        raise HawseError("unavailable", text, retryable=False)
    return path
