"""Mounts match their rows, whatever happens to the processes."""

import asyncio
import fcntl
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import psutil
import pytest

from hawse.api.mounts import MountCredentials, MountInfo
from hawse.wire import HawseError
from hawse_gateway.mounts.overlay import changes
from hawse_gateway.mounts.processes import MountProcesses
from hawse_gateway.mounts.reconciler import MountReconciler
from hawse_gateway.mounts.records import MountRecord, MountRecords
from hawse_gateway.mounts.settings import DirectorySettings, MountSettings, Source
from hawse_gateway.sandboxes.records import RUNS, SANDBOXES
from hawse_gateway.store.base import Delete
from tests.support.gateway import eventually
from tests.support.mount_place import Place, PlaceProvider, add_run, add_sandbox, mount_place
from tests.support.object_store import BUCKET, KEY_ID, SECRET, object_store
from tests.support.stores import MemoryStore


def ended(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


class SilentStore(MountProcesses):
    """Processes whose store does not answer whether it has a bucket."""

    def __init__(self, root: Path, settings: MountSettings) -> None:
        super().__init__(root, settings)
        self.asked = asyncio.Event()

    async def missing(self, source: Source) -> str | None:
        if self.alive("m-1"):  # else it is asked before it is mounted
            self.asked.set()
            await asyncio.Event().wait()
        return None


class Kept:
    """A reconciler, and the objects that it uses."""

    def __init__(self, folder: Path, place: Place) -> None:
        self.folder = folder
        self.source = folder / "source"
        self.source.mkdir()
        (self.source / "x").write_text("of the host")
        self.settings = MountSettings(directories={"shared": DirectorySettings(path=str(self.source))})
        self.store = MemoryStore()
        self.records = MountRecords(self.store)
        self.place = place
        self.provider = PlaceProvider(place)
        self.earlier: list[MountProcesses] = []
        self.reconciler = self.another()

    def another(self, processes: MountProcesses | None = None) -> MountReconciler:
        """The reconciler of a later gateway."""
        self.processes = processes or MountProcesses(self.folder / "mounts", self.settings)
        self.earlier.append(self.processes)
        providers = {"model": self.provider}
        return MountReconciler(
            *(self.store, providers, self.processes, self.settings),
            *(self.folder / "locks", self.folder / "images"),
            probe=0.0,
        )

    def record(self, *, bucket: str = "shared", generation: str = "g") -> MountRecord:
        info = MountInfo(id="m-1", sandbox="box", path="data", bucket=bucket, owner="owner")
        return MountRecord(info=info, generation=generation)

    def overlay(self) -> MountRecord:
        """The row of an overlay with a directory, and its image."""
        tree = self.folder / "tree"
        (tree / "d").mkdir(parents=True)
        (tree / "d/x").write_text("of the image")
        (self.folder / "images").mkdir()
        command = ["mksquashfs", str(tree), str(self.folder / "images/b-1"), "-quiet", "-no-progress"]
        subprocess.run(command, check=True, timeout=60)
        info = MountInfo(id="m-1", sandbox="box", path="data", backup="b-1", owner="owner")
        return MountRecord(info=info, generation="g")

    def run_inside(self, *command: str) -> None:
        """Run a program in the mount namespace of the sandbox."""
        subprocess.run(["nsenter", "-t", str(self.place.pid), "-m", *command], check=True, timeout=60)

    async def until(self, state: str | None) -> None:
        """Wait until the mount has a state; None: until it is gone. The reconciler polls as well."""
        async with asyncio.timeout(30):
            while True:
                record = await self.records.get("m-1")
                found = None if record is None else (await self.reconciler.describe(record)).state
                if found == state:
                    return
                await asyncio.sleep(0.05)

    async def until_read(self, content: str) -> None:
        """Wait until the file `x` can be read, which fails until rclone, which was killed, runs again."""
        async with asyncio.timeout(30):
            while True:
                try:
                    assert self.place.path("data/x").read_text() == content
                    return
                except OSError:
                    await asyncio.sleep(0.05)

    async def lose(self, table: str) -> None:
        [(key, row)] = (await self.store.rows(table)).items()
        await self.store.write(Delete(table, key, row.version))


@asynccontextmanager
async def kept(folder: Path) -> AsyncIterator[Kept]:
    with mount_place(folder) as place:
        made = Kept(folder, place)
        await add_sandbox(made.store)
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(made.reconciler.run())
            try:
                yield made
            finally:
                running.cancel()
                for processes in made.earlier:
                    await processes.end("m-1")


async def test_a_mount_lives_from_its_creation_to_its_deletion(tmp_path: Path) -> None:
    async with kept(tmp_path) as made:
        await made.reconciler.create(made.record())
        assert made.place.path("data/x").read_text() == "of the host"
        await made.until("mounted")
        made.place.path("data/y").write_text("written")
        await made.reconciler.delete(made.record(), force=False, discard=False)
        await made.reconciler.wait_until_removed("m-1", 30)
        assert (made.source / "y").read_text() == "written"
        assert not made.processes.alive("m-1")
        assert made.processes.ids() == []
        await eventually(lambda: list((tmp_path / "locks").iterdir()) == [])


async def test_a_killed_mount_is_mounted_again_even_by_a_later_gateway(tmp_path: Path) -> None:
    async with kept(tmp_path) as made:
        await made.reconciler.create(made.record())
        pid = int(made.processes.folder("m-1").process.read_text().split()[0])
        process = psutil.Process(pid)
        process.kill()
        await eventually(lambda: ended(process))
        await made.until_read("of the host")
        later = made.another()
        await later.ensure("box")
        assert made.processes.alive("m-1")
        assert made.place.path("data/x").read_text() == "of the host"


async def test_a_mount_waits_for_its_sandbox_and_is_mounted_at_its_next_start(tmp_path: Path) -> None:
    async with kept(tmp_path) as made:
        await made.reconciler.create(made.record())
        made.place.path("data/y").write_text("late")
        await made.lose(RUNS)
        await made.until("waiting")
        assert (made.source / "y").read_text() == "late"
        (tmp_path / "again").mkdir()
        with mount_place(tmp_path / "again") as place:
            made.provider.place = place
            await add_run(made.store, runtime="r2")
            await made.reconciler.ensure("box")
            assert place.path("data/y").read_text() == "late"


async def test_a_deleted_sandbox_loses_its_mounts_and_a_later_one_does_not_get_them(tmp_path: Path) -> None:
    async with kept(tmp_path) as made:
        await made.reconciler.create(made.record())
        made.place.path("data/y").write_text("late")
        await made.lose(RUNS)
        await made.lose(SANDBOXES)
        await add_sandbox(made.store, generation="g2")
        await made.until(None)
        assert (made.source / "y").read_text() == "late"
        assert not made.processes.alive("m-1")


async def test_a_deletion_that_comes_after_another_one_leaves_no_lock(tmp_path: Path) -> None:
    async with kept(tmp_path) as made:
        await made.reconciler.create(made.record())
        await made.reconciler.delete(made.record(), force=False, discard=False)
        await made.reconciler.wait_until_removed("m-1", 30)
        await made.reconciler.delete(made.record(), force=False, discard=False)
        await eventually(lambda: list((tmp_path / "locks").iterdir()) == [])


async def test_a_creation_that_fails_leaves_nothing(tmp_path: Path) -> None:
    async with kept(tmp_path) as made:
        with pytest.raises(HawseError, match="no longer"):
            await made.reconciler.create(made.record(bucket="gone"))
        made.provider.place = None
        with pytest.raises(HawseError, match="nothing can be mounted"):
            await made.reconciler.create(made.record())
        with pytest.raises(HawseError, match="is not running"):
            await made.reconciler.create(made.record(generation="earlier"))
        assert await made.records.all() == {}
        await eventually(lambda: list((tmp_path / "locks").iterdir()) == [])


async def test_a_failed_mount_reports_the_reason_and_the_others_keep_running(tmp_path: Path) -> None:
    async with kept(tmp_path) as made:
        await made.records.add(made.record(bucket="gone"))
        await made.until("failed")
        assert "no longer" in ((await made.reconciler.describe(made.record())).reason or "")
        await made.reconciler.ensure("box")  # it does not wait for it


async def test_a_directory_that_is_deleted_later_is_reported(tmp_path: Path) -> None:
    async with kept(tmp_path) as made:
        await made.reconciler.create(made.record())
        await made.until("mounted")
        shutil.rmtree(made.source)
        await made.until("failed")
        record = await made.records.get("m-1")
        assert record is not None
        assert "No such file or directory" in str((await made.reconciler.describe(record)).reason)


async def test_a_bucket_deleted_later_is_reported_and_written_files_are_kept(tmp_path: Path) -> None:
    async with object_store() as store, kept(tmp_path) as made:
        given = MountCredentials(access_key_id=KEY_ID, secret_access_key=SECRET, endpoint=store.url)
        await made.reconciler.create(msgspec.structs.replace(made.record(bucket=BUCKET), credentials=given))
        await made.until("mounted")
        await store.delete_bucket()
        await made.until("failed")
        made.place.path("data/y").write_text("written")
        record = await made.records.get("m-1")
        assert record is not None
        described = await made.reconciler.describe(record)
        assert (described.reason, described.pending) == (
            "the store has no bucket 'bucket'; nothing is uploaded until it exists again",
            1,
        )
        await made.reconciler.delete(record, force=False, discard=False)
        with pytest.raises(HawseError, match=r"1 files .* have not been uploaded yet.* has no bucket 'bucket'"):
            await made.reconciler.wait_until_removed("m-1", 5)
        await store.create_bucket()
        await made.reconciler.wait_until_removed("m-1", 60)
        assert await store.content("y") == b"written"


async def test_a_store_that_does_not_answer_a_probe_keeps_nobody_from_the_mount(tmp_path: Path) -> None:
    async with kept(tmp_path) as made:
        silent = SilentStore(tmp_path / "mounts", made.settings)
        async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
            reconciler = made.another(silent)
            await reconciler.create(made.record())
            running = tasks.create_task(reconciler.run())
            await silent.asked.wait()
            await reconciler.delete(made.record(), force=False, discard=False)
            await reconciler.wait_until_removed("m-1", 20)
            running.cancel()


async def test_an_overlay_without_its_image_explains_how_to_rebuild_it(tmp_path: Path) -> None:
    async with kept(tmp_path) as made:
        info = MountInfo(id="m-1", sandbox="box", path="data", backup="b-1", owner="owner")
        record = MountRecord(info=info, generation="g")
        await made.records.add(record)
        await made.until("failed")
        assert "'b-1' was deleted: restore it" in ((await made.reconciler.describe(record)).reason or "")
        assert await made.records.backups() == {"b-1"}
        await made.reconciler.check("box")
        with pytest.raises(HawseError, match="is not running"):
            await made.reconciler.check("other")


async def test_a_slow_deletion_reports_the_pending_work(tmp_path: Path) -> None:
    async with kept(tmp_path) as made:
        await made.records.add(made.record(bucket="gone"))
        with pytest.raises(HawseError) as raised:
            await made.reconciler.wait_until_removed("m-1", 0)
        assert (raised.value.code, raised.value.details) == ("unavailable", {"pending": 0})


async def test_an_overlay_whose_deletion_fails_half_way_does_not_come_back(tmp_path: Path) -> None:
    async with kept(tmp_path) as made:
        record, data = made.overlay(), made.place.path()
        await made.reconciler.create(record)
        (data / "changed").write_text("1")
        (data / "d/changed").write_text("2")
        await made.lose(RUNS)
        await made.until("waiting")
        await made.processes.unmount("m-1", made.place.inside(), force=True)
        kept_busy = str(made.place.workspace / "data" / changes("m-1") / "upper/d")
        made.run_inside("mount", "-t", "tmpfs", "none", kept_busy)  # rmdir(2) fails with EBUSY
        await add_run(made.store, runtime="r2")
        await made.reconciler.ensure("box")
        assert (data / "changed").read_text() == "1"
        with pytest.raises(HawseError) as raised:
            async with asyncio.timeout(30):
                await made.reconciler.delete(record, force=False, discard=False)
                await made.reconciler.wait_until_removed("m-1", 5)
        assert raised.value.code == "unavailable"
        assert "the changes to mount 'm-1' have not been deleted yet" in raised.value.message
        assert (await made.reconciler.describe(record)).state != "mounted"
        assert [one.deleting for one in (await made.records.all()).values()] == [True]
        assert not (data / "changed").exists()
        made.run_inside("umount", kept_busy)
        await made.until(None)
        assert list(data.iterdir()) == []


async def test_an_overlay_that_programs_use_is_deleted_by_force_only(tmp_path: Path) -> None:
    async with kept(tmp_path) as made:
        record = made.overlay()
        await made.reconciler.create(record)
        with (made.place.path() / "d/x").open():
            with pytest.raises(HawseError, match="programs are using files") as raised:
                await made.reconciler.delete(record, force=False, discard=False)
            assert raised.value.code == "conflict"
            assert not any(one.deleting for one in (await made.records.all()).values())
            await made.reconciler.delete(record, force=True, discard=False)
            await made.reconciler.wait_until_removed("m-1", 30)


async def test_an_overlay_whose_process_was_killed_is_mounted_again_when_programs_have_left_it(tmp_path: Path) -> None:
    async with kept(tmp_path) as made:
        record, data = made.overlay(), made.place.path()
        await made.reconciler.create(record)
        with (data / "changed").open("w") as used:
            process = psutil.Process(int(made.processes.folder("m-1").process.read_text().split()[0]))
            process.kill()
            await eventually(lambda: ended(process))
            await made.until("failed")
            assert "when no program uses it" in ((await made.reconciler.describe(record)).reason or "")
            used.write("1")
        await made.until("mounted")
        assert (data / "changed").read_text() + (data / "d/x").read_text() == "1of the image"


async def test_a_mount_can_be_worked_on_after_a_call_that_has_waited_for_another_gateway_was_cancelled(
    tmp_path: Path,
) -> None:
    async with kept(tmp_path) as made:
        await made.reconciler.create(made.record())
        later = made.another()  # which does nothing else
        with (tmp_path / "locks/m-1").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # as another gateway
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.5):
                    await later.delete(made.record(), force=False, discard=False)
        async with asyncio.timeout(30):
            await later.delete(made.record(), force=False, discard=False)
        await made.reconciler.wait_until_removed("m-1", 30)
