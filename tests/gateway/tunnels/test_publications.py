"""Programs of providers: started, restarted, ended with their tunnel. The programs are shell scripts."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import msgspec
import psutil
import pytest

from hawse.wire import HawseError
from hawse_gateway.sandboxes.records import SANDBOXES
from hawse_gateway.store.base import Store
from hawse_gateway.tunnels.connections import TunnelConnections
from hawse_gateway.tunnels.providers import Output, PublicAddressProvider, Published
from hawse_gateway.tunnels.publications import Publications, find_program
from hawse_gateway.tunnels.relay import Channel
from hawse_gateway.tunnels.table import TunnelRecord, TunnelTable
from tests.support.gateway import eventually
from tests.support.stores import MemoryStore

TIMEOUT = 20.0  # s until a waiting test fails


class ScriptOutput(Output):
    def _explanation(self, line: str) -> str:
        return line

    def _published(self, line: str) -> Published | None:
        word, _, port = line.partition(" ")
        return Published(f"tcp://example.org:{port}", int(port)) if word == "port" else None


class Script(PublicAddressProvider):
    """Runs a shell script with the requested port as `$1`, in the directory with the file `name`."""

    name = "ssh"
    kind = "tcp"
    program = "sh"

    def __init__(self, script: str) -> None:
        self.files = {"name": "file of the provider"}
        self._script = script

    def arguments(self, port: int | None) -> list[str]:
        return ["-c", self._script, "sh", str(port or 0)]

    def output(self) -> Output:
        return ScriptOutput()


@asynccontextmanager
async def no_port(record: TunnelRecord, address: str, ended: Callable[[], None]) -> AsyncIterator[Channel]:
    raise HawseError("unavailable", "there is no port")
    yield


class Bench:
    def __init__(self, table: TunnelTable, publications: Publications, root: Path) -> None:
        self.table = table
        self.publications = publications
        self.root = root

    async def create(self, name: str = "db", remote_port: int | None = None) -> TunnelRecord:
        record = TunnelRecord(
            name=name,
            sandbox="box",
            generation="g",
            port=5432,
            kind="tcp",
            provider="ssh",
            created=self.table.clock.now(),
            remote_port=remote_port,
        )
        await self.table.put(record)
        return record


@asynccontextmanager
async def running(root: Path, script: str, store: MemoryStore | None = None) -> AsyncIterator[Bench]:
    store = store or MemoryStore()
    store.put(SANDBOXES, "box", msgspec.json.encode({"generation": "g"}))
    async with (
        asyncio.timeout(TIMEOUT),
        TunnelTable(cast(Store, store)).running() as table,
        asyncio.TaskGroup() as tasks,
    ):
        publications = Publications(table, {"ssh": Script(script)}, TunnelConnections(no_port), root, pause=0.01)
        task = tasks.create_task(publications.run())
        yield Bench(table, publications, root)
        task.cancel()


def text(path: Path) -> str:
    """Return what scripts have written to a file so far."""
    return path.read_text() if path.exists() else ""


async def read_pid(path: Path) -> int:
    """Wait for a pid that a script writes."""
    await eventually(lambda: text(path).endswith("\n"))
    return int(text(path))


async def test_a_program_runs_until_its_tunnel_is_removed(tmp_path: Path) -> None:
    script = f"cat name >{tmp_path}/name; echo $$ >{tmp_path}/pid; test -S socket && echo port 41000 >&2; exec sleep 60"
    async with running(tmp_path / "tunnels", script) as bench:
        record = await bench.create()
        publication = await bench.publications.start(record)
        await publication.settled()
        assert (publication.url, publication.problem) == ("tcp://example.org:41000", None)
        assert text(tmp_path / "name") == "file of the provider"
        assert bench.publications.find(record) is publication
        await bench.table.remove(record)
        pid = await read_pid(tmp_path / "pid")
        await eventually(lambda: not psutil.pid_exists(pid))
        await eventually(lambda: not (bench.root / "db").exists())
        assert bench.publications.find(record) is None


async def test_it_is_restarted_with_its_previous_port(tmp_path: Path) -> None:
    script = f'echo "$1" >>{tmp_path}/asked; echo $$ >{tmp_path}/pid; echo port 41000 >&2; exec sleep 60'
    store = MemoryStore()
    async with running(tmp_path / "tunnels", script, store) as bench:
        record = await bench.create()
        await (await bench.publications.start(record)).settled()
        await eventually(lambda: (found := bench.table.find("db")) is not None and found.remote_port == 41_000)
        os.kill(await read_pid(tmp_path / "pid"), signal.SIGKILL)
        await eventually(lambda: text(tmp_path / "asked") == "0\n41000\n")
    async with running(tmp_path / "tunnels", script, store):
        await eventually(lambda: text(tmp_path / "asked") == "0\n41000\n41000\n")


async def test_why_it_ends_is_known_until_it_succeeds(tmp_path: Path) -> None:
    script = f"test -e {tmp_path}/open || {{ echo refused >&2; exit 255; }}; echo port 41000 >&2; exec sleep 60"
    async with running(tmp_path / "tunnels", script) as bench:
        publication = await bench.publications.start(await bench.create())
        await publication.settled()
        assert (publication.url, publication.problem) == (None, "refused")
        (tmp_path / "open").touch()
        await eventually(lambda: publication.url is not None)
        assert publication.problem is None


async def test_an_end_without_a_reason_is_named_by_its_code_or_signal(tmp_path: Path) -> None:
    script = f"test -e {tmp_path}/again && exit 3; touch {tmp_path}/again; kill -9 $$"
    async with running(tmp_path / "tunnels", script) as bench:
        publication = await bench.publications.start(await bench.create())
        await publication.settled()
        assert publication.problem == "sh has ended by SIGKILL"
        await eventually(lambda: publication.problem == "sh has ended with code 3")


async def test_tokens_of_the_gateway_are_not_given_to_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAWSE_TOKEN", "secret")
    async with running(tmp_path / "tunnels", 'echo "token: $HAWSE_TOKEN" >&2') as bench:
        publication = await bench.publications.start(await bench.create())
        await publication.settled()
        assert publication.problem == "token:"


async def test_it_is_tried_again_when_the_machine_has_room_again(tmp_path: Path) -> None:
    root = tmp_path / "tunnels"
    root.write_text("in the way")  # no directory can be created below it
    root.chmod(0o600)
    async with running(root / "below", "echo port 41000 >&2; exec sleep 60") as bench:
        publication = await bench.publications.start(await bench.create())
        await publication.settled()
        assert publication.url is None
        assert publication.problem is not None
        assert "cannot run its program" in publication.problem
        root.unlink()
        await eventually(lambda: publication.url == "tcp://example.org:41000")


async def test_a_gateway_that_stops_starts_nothing(tmp_path: Path) -> None:
    async with running(tmp_path / "tunnels", "exec sleep 60") as bench:
        record = await bench.create()
        await bench.publications.start(record)
    with pytest.raises(HawseError, match="stopping"):
        await bench.publications.start(record)


def test_a_missing_program_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    script = Script("")
    script.install = "apt install dash"
    with pytest.raises(HawseError, match="lacks sh: apt install dash") as raised:
        find_program(script)
    assert raised.value.code == "unavailable"
