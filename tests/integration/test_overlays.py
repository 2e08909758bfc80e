"""Backups restored as overlays in bubblewrap: content, changes, lost processes, damage, and leftovers."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import psutil
import pytest

import hawse
from hawse.api.backups import BackupCompression
from hawse.client import Sandbox, SandboxLimits
from hawse.wire import HawseError
from tests.support.gateway import eventually
from tests.support.stack import Stack

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="the tests of the local provider run as the superuser")
LIMIT = 60  # s

# Creates `tree` in a sandbox: names with any bytes, links, modes, attributes, holes.
PLANT = r"""
import os
os.mkdir("tree")
os.chdir("tree")
os.makedirs("d/ü/" + "l" * 200)
open(b"caf\xe9\xff\n", "wb").write(b"latin")
open("d/ü/x", "w").write("unicode")
open("secret", "w").write("s")
open("run", "w").write("#!/bin/sh\necho ran\n")
open("empty", "w").close()
for name, mode in (("secret", 0o400), ("run", 0o4755), ("d", 0o1700)):
    os.chmod(name, mode)
os.link("run", "d/again")
os.symlink(b"caf\xe9\xff\n", "link")
os.symlink("/nowhere", "d/broken")
os.mkfifo("fifo", 0o620)
os.setxattr("run", "user.k", b"v\0\xff")
os.setxattr("d", "user.d", b"of a directory")
with open("holes", "wb") as file:
    file.seek(50 << 20)
    file.write(b"end")
    file.truncate(60 << 20)
for number in range(300):
    open(f"d/{number}", "w").write(str(number) * 300)
os.utime("run", (1, 1234567890))
os.utime("link", (1, 1), follow_symlinks=False)
os.chmod(".", 0o2751)
"""

# Prints the content of a tree.
SHOW = r"""
import hashlib, os, stat, sys
top = os.fsencode(sys.argv[1])
for folder, folders, files in os.walk(top):
    folders.sort()
    for name in [b".", *sorted(folders + files)] if folder == top else sorted(folders + files):
        path = os.path.join(folder, name)
        status = os.lstat(path)
        facts = [oct(status.st_mode), status.st_uid, status.st_gid]
        if folder != top or name != b".":
            facts.append(int(status.st_mtime))
        if stat.S_ISREG(status.st_mode):
            facts += [status.st_size, status.st_nlink]
            with open(path, "rb") as file:
                facts.append(hashlib.file_digest(file, "sha256").hexdigest())
        elif stat.S_ISLNK(status.st_mode):
            facts.append(os.readlink(path))
        if not stat.S_ISLNK(status.st_mode):
            facts.append({key: os.getxattr(path, key) for key in os.listxattr(path)})
        print(os.path.relpath(path, top), *facts)
"""


async def python(box: Sandbox, script: str, *arguments: str) -> str:
    return (await box.exec(["python3", "-c", script, *arguments], check=True, timeout=LIMIT)).text


class Overlays(Stack):
    """A gateway whose sandboxes run in bubblewrap."""

    def __init__(self, folder: Path, *options: str) -> None:
        super().__init__(folder / "state", *options, isolation="bubblewrap")

    @property
    def images(self) -> list[str]:
        folder = self.state / "images"
        return sorted(os.listdir(folder)) if folder.exists() else []

    def servers(self) -> list[psutil.Process]:
        """Return this gateway's squashfuse processes."""
        return list(self._servers())

    def _servers(self) -> Iterator[psutil.Process]:
        for process in psutil.process_iter():
            try:
                if os.readlink(f"/proc/{process.pid}/fd/103").startswith(str(self.state)):
                    yield process
            except OSError:
                continue


@asynccontextmanager
async def overlays(folder: Path, *options: str) -> AsyncIterator[tuple[Overlays, hawse.Client]]:
    stack = Overlays(folder, *options)
    async with stack, hawse.connect(stack.base, token=stack.token) as hw:
        yield stack, hw


async def until(condition: Callable[[], object]) -> None:
    await asyncio.wait_for(eventually(condition), LIMIT)


async def until_state(box: Sandbox, state: str) -> None:
    async with asyncio.timeout(LIMIT):
        while [mount.state for mount in await box.mounts.list()] != [state]:  # noqa: ASYNC110  # no event
            await asyncio.sleep(0.1)


async def test_an_overlay_is_what_a_copy_is(tmp_path: Path) -> None:
    async with overlays(tmp_path) as (stack, hw), hw.sandboxes.create() as box:
        await python(box, PLANT)
        backup = await box.backups.create("tree")
        await box.backups.restore(backup.id, path="copy")
        done = await box.backups.restore(backup.id, path="over/lay", mode="overlay")
        assert (done.entries, done.bytes) == (backup.entries, 0)
        assert await python(box, SHOW, "over/lay") == await python(box, SHOW, "copy")
        [mount] = await box.mounts.list()
        assert (mount.id, mount.backup, mount.bucket, mount.state) == (done.mount, backup.id, None, "mounted")
        assert stack.images == [backup.id]


async def test_changes_stay_in_their_sandbox_and_the_backup_is_what_it_was(tmp_path: Path) -> None:
    async with overlays(tmp_path) as (stack, hw), hw.sandboxes.create() as box, hw.sandboxes.create() as other:
        await python(box, PLANT)
        before = await python(box, SHOW, "tree")
        backup = await box.backups.create("tree", overlay=True)
        assert stack.images == [backup.id]
        image = (stack.state / "images" / backup.id).stat()
        await box.exec("rm -rf tree", check=True)
        await box.backups.restore(backup.id, mode="overlay")
        await other.backups.restore(backup.id, path="x", mode="overlay")
        script = (
            "cd tree && chmod 600 secret && echo more >> secret && rm run && mv d/again moved && rm -r d/ü && mkdir d/ü"
        )
        await box.exec(f"{script} && mv d e && echo other > link && echo first > new", check=True)
        await other.exec("echo second > x/new", check=True)
        assert (
            await box.exec("cd tree; cat secret new; ./moved; ls e/ü; ls | wc -l")
        ).text == "smore\nfirst\nran\n10\n"
        assert (await other.exec("cat x/new x/d/7; rm x/new")).text == "second\n" + "7" * 300
        assert await python(other, SHOW, "x") == before
        await other.backups.restore(backup.id, path="again")
        assert await python(other, SHOW, "again") == before
        status = (stack.state / "images" / backup.id).stat()
        assert (status.st_ino, status.st_size, status.st_mode & 0o777) == (image.st_ino, image.st_size, 0o444)


async def test_a_backup_has_what_an_overlay_shows(tmp_path: Path) -> None:
    async with overlays(tmp_path) as (_, hw), hw.sandboxes.create() as box:
        await python(box, PLANT)
        backup = await box.backups.create("tree")
        await box.backups.restore(backup.id, path="sub/x", mode="overlay")
        await box.exec("cd sub/x && rm -r d run && echo own > new", check=True)
        second = await box.backups.create("sub")
        await box.backups.restore(second.id, path="copy")
        assert await python(box, SHOW, "copy/x") == await python(box, SHOW, "sub/x")
        with pytest.raises(HawseError, match="is a mount") as raised:
            await box.backups.restore(second.id)
        assert raised.value.code == "conflict"


@pytest.mark.parametrize("lost", ["squashfuse", "runtime", "gateway", "everything", "sandbox"])
async def test_an_overlay_comes_back_with_its_changes(tmp_path: Path, lost: str) -> None:
    async with overlays(tmp_path) as (stack, hw):
        box = await hw.sandboxes.create(id="box")
        await box.exec("mkdir t && echo 1 > t/a && echo 2 > t/b", check=True)
        backup = await box.backups.create("t")
        await box.backups.restore(backup.id, path="o", mode="overlay")
        await box.exec("rm o/a && echo new > o/c && echo more >> o/b", check=True)
        if lost == "sandbox":
            await box.stop()
            await until(lambda: not stack.servers())
            await box.wake()
        if lost in ("gateway", "everything"):
            await stack.kill()
        killed = stack.servers() if lost in ("squashfuse", "everything") else []
        killed += stack.runtimes() if lost in ("runtime", "everything") else []
        for process in killed:
            with suppress(psutil.NoSuchProcess):  # it has ended together with another one
                process.kill()
            await asyncio.to_thread(psutil.wait_procs, [process], LIMIT)
        if lost in ("gateway", "everything"):
            await stack.start()
        async with hawse.connect(stack.base, token=stack.token) as hw:
            again = hw.sandbox("box")
            await again.exec("true")
            await until_state(again, "mounted")
            done = await again.exec("cd o && cat b c && ls && echo last > d && mount | grep -c hawse-m-")
            assert done.text == "2\nmore\nnew\nb\nc\n1\n"
            assert len(stack.servers()) == 1
            await again.delete()
            await until(lambda: not stack.servers() and not list((stack.state / "mounts").iterdir()))


async def test_a_deletion_leaves_no_process_mount_or_file(tmp_path: Path) -> None:
    async with overlays(tmp_path) as (stack, hw), hw.sandboxes.create() as box:
        await box.exec("mkdir t && echo 1 > t/a", check=True)
        backup = await box.backups.create("t")
        [first, second] = [await box.backups.restore(backup.id, path=path, mode="overlay") for path in ("p/o", "q")]
        await box.exec("echo x > p/o/b && mkdir p/o/d && chmod 0 p/o/d && mv p r", check=True)
        busy = await box.processes.start("exec sleep 1000 < a", cwd="r/o")
        with pytest.raises(HawseError, match="programs are using files") as raised:
            await box.mounts.delete(first.mount or "")
        assert raised.value.code == "conflict"
        await busy.kill()
        await busy.wait()
        await hw.backups.delete(backup.id)  # its image stays: mounts show it
        assert stack.images == [backup.id]
        await box.mounts.delete(first.mount or "")
        assert (await box.exec("find r q; cat q/a; mount | grep -c hawse-m-")).text == "r\nr/o\nq\nq/a\n1\n1\n"
        await box.stop()
        with pytest.raises(HawseError) as raised:
            await box.mounts.delete(second.mount or "")  # its files include the changes
        assert raised.value.code == "stopped"
        await box.wake()
        await box.mounts.delete(second.mount or "")
        assert (await box.exec("find r q; mount | grep -c hawse-m-")).text == "r\nr/o\nq\n0\n"
        assert await box.mounts.list() == []
        assert stack.servers() == []
        assert list((stack.state / "mounts").iterdir()) == []
        await stack.kill()
        await stack.start()  # it sweeps at start and then every minute
        await until(lambda: not stack.images)


async def test_what_cannot_be_restored_is_a_typed_error_and_leaves_nothing(tmp_path: Path) -> None:
    async with overlays(tmp_path) as (_, hw), hw.sandboxes.create() as box:
        await box.exec(
            "mkdir t full && head -c 300000 /dev/urandom > t/a && touch full/x file && ln -s t link", check=True
        )
        backup = await box.backups.create("t")
        everything = await box.backups.create(".")
        for path, code in (
            ("full", "conflict"),
            ("file", "not_directory"),
            ("link", "not_directory"),
            (".", "invalid_params"),
            ("../x", "invalid_params"),
            ("/tmp/x", "invalid_params"),
        ):
            with pytest.raises(HawseError) as raised:
                await box.backups.restore(backup.id, path=path, mode="overlay")
            assert raised.value.code == code, (path, raised.value)
        with pytest.raises(HawseError) as raised:
            await box.backups.restore(everything.id, mode="overlay")  # to the workspace itself
        assert raised.value.code == "invalid_params"
        await box.backups.restore(backup.id, path="o", mode="overlay")
        with pytest.raises(HawseError, match="cannot contain another"):
            await box.backups.restore(backup.id, path="o/x", mode="overlay")
        assert (await box.exec("ls -A . full o")).text.split() == [
            *(".:", "file", "full", "link", "o", "t"),
            *("full:", "x", "o:", "a"),
        ]


@pytest.mark.parametrize("how", ["changed", "short", "not an archive"])
async def test_a_damaged_archive_is_refused(tmp_path: Path, how: str) -> None:
    async with overlays(tmp_path) as (stack, hw), hw.sandboxes.create() as box:
        await box.exec("mkdir t && head -c 3000000 /dev/urandom > t/a", check=True)
        compression: BackupCompression = "none" if how == "changed" else "zstd"
        backup = await box.backups.create("t", compression=compression)
        archive = stack.state / "backups" / backup.id
        whole = archive.read_bytes()
        at = len(whole) // 2
        damaged = {
            "changed": whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :],
            "short": whole[:at],
            "not an archive": os.urandom(at),
        }
        archive.write_bytes(damaged[how])
        with pytest.raises(HawseError, match="the archive is damaged") as raised:
            await box.backups.restore(backup.id, path="o", mode="overlay")
        assert raised.value.code == "io_error"
        assert (stack.images, await box.mounts.list()) == ([], [])
        archive.write_bytes(whole)
        await box.backups.restore(backup.id, path="o", mode="overlay")
        assert (await box.exec("cmp t/a o/a")).code == 0


async def test_a_damaged_image_is_refused_and_made_again(tmp_path: Path) -> None:
    async with overlays(tmp_path) as (stack, hw), hw.sandboxes.create() as box:
        await box.exec("mkdir t && echo 1 > t/a", check=True)
        backup = await box.backups.create("t", overlay=True)
        (stack.state / "images" / backup.id).write_bytes(os.urandom(5000))
        with pytest.raises(HawseError, match="try again") as raised:
            await box.backups.restore(backup.id, path="o", mode="overlay")
        assert raised.value.code == "io_error"
        assert (stack.images, await box.mounts.list(), stack.servers()) == ([], [], [])
        await box.backups.restore(backup.id, path="o", mode="overlay")
        assert (await box.exec("cat o/a")).text == "1\n"


async def test_a_full_disk_is_an_error_of_the_program(tmp_path: Path) -> None:
    async with overlays(tmp_path) as (_, hw), hw.sandboxes.create(limits=SandboxLimits(disk=64 << 20)) as box:
        await box.exec("mkdir t && head -c 20000000 /dev/urandom > t/a", check=True)
        backup = await box.backups.create("t")
        await box.exec("rm -r t", check=True)
        await box.backups.restore(backup.id, path="o", mode="overlay")
        done = await box.exec("head -c 100000000 /dev/zero > o/b")
        assert b"No space left" in done.stderr
        assert (
            await box.exec("rm o/b && echo x >> o/a && wc -c < o/a && df -h . >&2", check=True)
        ).text == "20000002\n"


async def test_without_isolation_it_is_unavailable_and_copies_nothing(tmp_path: Path) -> None:
    async with Stack(tmp_path / "state") as stack, hawse.connect(stack.base, token=stack.token) as hw:
        box = hw.sandbox()
        await box.exec("mkdir t && echo 1 > t/a", check=True)
        backup = await box.backups.create("t")
        with pytest.raises(HawseError, match=r"bubblewrap: .*; use the mode `copy`") as raised:
            await box.backups.restore(backup.id, path="o", mode="overlay")
        assert raised.value.code == "unavailable"
        assert (await box.exec("ls")).text == "t\n"
