"""A mount namespace with one process, for mounts like in a sandbox, and the store rows of this sandbox."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hawse.wire import HawseError
from hawse_gateway.mounts.plan import Inside
from hawse_gateway.providers.base import MountPlace, SandboxSpec
from hawse_gateway.sandboxes.records import Run, SandboxRecord, new
from hawse_gateway.store.clock import Clock
from tests.support.providers import ModelProvider
from tests.support.stores import MemoryStore


class Place:
    """The process and its file system."""

    def __init__(self, process: subprocess.Popen[bytes], workspace: Path) -> None:
        self.pid = process.pid
        self.workspace = workspace
        self._process = process

    def inside(self, path: str = "data") -> Inside:
        return Inside(pid=self.pid, user=0, workspace=str(self.workspace), path=path)

    def path(self, path: str = "data") -> Path:
        """Return the path where the test sees a file of the process."""
        return Path(f"/proc/{self.pid}/root{self.workspace}/{path}")

    def end(self) -> None:
        self._process.kill()
        self._process.wait()


@contextmanager
def mount_place(folder: Path) -> Iterator[Place]:
    """Run a process in a separate mount namespace, with a workspace in `folder`."""
    if os.getuid() != 0:
        pytest.skip("only the superuser can enter the mount namespace of the process")
    workspace = folder / "workspace"
    workspace.mkdir()
    command = ["unshare", "--mount", "sh", "-c", "echo; exec sleep 1000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()  # the namespace exists, and its mounts no longer propagate
        place = Place(process, workspace)
        try:
            yield place
        finally:
            place.end()


class PlaceProvider(ModelProvider):
    """A provider whose units are all in `place`; with None, it has no units."""

    def __init__(self, place: Place | None) -> None:
        super().__init__()
        self.place = place

    async def mount_place(self, unit: str) -> MountPlace:
        if self.place is None:
            raise HawseError("unavailable", "nothing can be mounted")
        return MountPlace(pid=self.place.pid, user=0, workspace=str(self.place.workspace))


async def add_sandbox(store: MemoryStore, id: str = "box", *, generation: str = "g", runtime: str = "r") -> None:
    """Write the rows of a running sandbox."""
    now = Clock().now()
    sandbox = SandboxRecord(
        id=id, unit=id, provider="model", spec=SandboxSpec(), wanted="running", generation=generation, created=now
    )
    await store.write(new(sandbox))
    await add_run(store, id, generation=generation, runtime=runtime)


async def add_run(store: MemoryStore, id: str = "box", *, generation: str = "g", runtime: str = "r") -> None:
    run = Run(
        unit=id,
        sandbox=id,
        generation=generation,
        provider="model",
        runtime=runtime,
        state="running",
        since=Clock().now(),
    )
    await store.write(new(run))
