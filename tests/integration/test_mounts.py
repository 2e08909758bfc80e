"""Mounts of a real S3 server in bubblewrap and in containers: content, isolation, lost processes and stores."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import msgspec
import psutil
import pytest

import hawse
from hawse.client import MountCredentials
from hawse.wire import HawseError
from hawse_gateway.providers.docker.container import PROGRAMS_USER
from tests.support import docker
from tests.support.docker_stack import DockerStack
from tests.support.gateway import eventually
from tests.support.object_store import BUCKET, KEY_ID, SECRET, ObjectStoreServer, object_store
from tests.support.stack import Stack

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="the tests of the local provider run as the superuser")
LIMIT = 120  # s


class Mounting(Stack):
    """A gateway with the bucket `data` (limited to `team/USER/`) and the directory `shared`."""

    store: ObjectStoreServer
    shared: Path

    def sandbox_processes(self, box: str) -> list[psutil.Process]:
        """Return the processes of a running sandbox, including its runtime."""
        return self.runtimes()

    def user_of_programs(self, box: str) -> int:
        """Return the user id of a sandbox's programs on this machine."""
        return os.stat(self.state / "sandboxes" / box / "workspace").st_uid

    def rclones(self) -> list[psutil.Process]:
        found = []
        for process in psutil.process_iter():
            try:
                if process.name() == "rclone" and self._is_ours(process):
                    found.append(process)
            except (psutil.Error, OSError):
                continue
        return found

    def _is_ours(self, process: psutil.Process) -> bool:
        return os.readlink(f"/proc/{process.pid}/fd/100").startswith(str(self.state))

    async def close(self) -> None:
        await super().close()
        for process in self.rclones():
            with suppress(psutil.NoSuchProcess):
                process.kill()


class MountingInContainers(Mounting, DockerStack):
    """The same with the Docker provider."""

    def sandbox_processes(self, box: str) -> list[psutil.Process]:
        return self.processes(box)

    def user_of_programs(self, box: str) -> int:
        return PROGRAMS_USER


@pytest.fixture(params=["local", pytest.param("docker", marks=docker.needs_engine)])
def provider(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture
async def stack(tmp_path: Path, provider: str) -> AsyncIterator[Mounting]:
    async with object_store() as store:
        options = _settings(tmp_path, store)
        if provider == "local":
            stack = Mounting(tmp_path / "state", *options, isolation="bubblewrap")
        else:
            stack = MountingInContainers(
                tmp_path / "state", "--provider", "docker", "--image", docker.BUSYBOX, *options
            )
        stack.store, stack.shared = store, tmp_path / "shared"
        async with stack:
            yield stack


def _settings(folder: Path, store: ObjectStoreServer) -> list[str]:
    """Return the options of the gateway."""
    (folder / "shared").mkdir()
    (folder / "id").write_text(KEY_ID)
    (folder / "key").write_text(SECRET)
    file = folder / "mounts.toml"
    file.write_text(f"""
        per_sandbox = 2
        [buckets.data]
        bucket = "{BUCKET}"
        endpoint = "{store.url}"
        prefix = "team/{{user}}"
        access_key_id_file = "{folder}/id"
        secret_access_key_file = "{folder}/key"
        users = ["*"]
        [directories.shared]
        path = "{folder / "shared"}"
        """)
    return ["--mounts", str(file), "--limit", "user:mounts=2"]


def has_ended(process: psutil.Process) -> bool:
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


async def until(condition: Callable[[], object]) -> None:
    await asyncio.wait_for(eventually(condition), LIMIT)


async def until_state(hw: hawse.Client, sandbox: str, state: str) -> None:
    async with asyncio.timeout(LIMIT):
        while [mount.state for mount in await hw.sandbox(sandbox).mounts.list()] != [state]:  # noqa: ASYNC110  # no event
            await asyncio.sleep(0.1)


async def until_stored(store: ObjectStoreServer, key: str, content: bytes) -> None:
    async with asyncio.timeout(LIMIT):
        while key not in await store.keys() or await store.content(key) != content:  # noqa: ASYNC110  # no event
            await asyncio.sleep(0.1)


async def test_what_is_written_is_uploaded_and_what_is_outside_of_the_prefix_is_not_seen(stack: Mounting) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        await stack.store.put("team/owner/in/a.txt", b"hello")
        await stack.store.put("team/owner2/b.txt", b"not yours")
        await stack.store.put("c.txt", b"not yours")
        async with hw.sandboxes.create() as box:
            mount = await box.mounts.create("data", "data")
            assert (mount.path, mount.state) == ("data", "mounted")
            done = await box.exec("cd data && find . -mindepth 1 && cat in/a.txt && mkdir d && echo new > d/b")
            assert done.stdout.decode().split() == ["./in", "./in/a.txt", "hello"]
            done = await box.exec("ls data/.. && mv data/in/a.txt data/d/c && rm data/d/b && echo last > data/last")
            assert done.stdout == b"data\n"
            await box.mounts.delete(mount.id)
            assert await stack.store.keys() == ["c.txt", "team/owner/d/c", "team/owner/last", "team/owner2/b.txt"]
            assert await stack.store.content("team/owner/last") == b"last\n"
            assert (await box.exec("ls data")).stdout == b""
            assert await box.mounts.list() == []
            assert stack.rclones() == []
            assert list((stack.state / "mounts").iterdir()) == []


async def test_a_directory_is_mounted_and_its_mount_point_may_be_moved(stack: Mounting) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        (stack.shared / "sub").mkdir()
        (stack.shared / "sub/x").write_text("of the host")
        (stack.shared / "sub/out").symlink_to("/etc/shadow")
        async with hw.sandboxes.create() as box:
            mount = await box.mounts.create("shared", "/workspace/a b/shared", prefix="sub")
            done = await box.exec("cd 'a b/shared' && ls && cat x && echo y > y && cat out")
            assert done.stdout == b"x\nof the host"
            assert done.code == 1
            await until((stack.shared / "sub/y").exists)
            await box.exec("mv 'a b' c")
            await box.mounts.delete(mount.id)
            assert (await box.exec("ls c/shared")).stdout == b""
            fixed = await box.mounts.create("shared", "c/shared", prefix="sub", read_only=True)
            done = await box.exec("cat c/shared/y; echo z > c/shared/z")
            assert done.stdout == b"y\n"
            assert b"Read-only" in done.stderr
            await box.mounts.delete(fixed.id)


async def test_credentials_are_neither_in_the_sandbox_nor_in_arguments(stack: Mounting) -> None:
    async with (
        hawse.connect(stack.base, token=stack.token) as hw,
        hw.sandboxes.create() as box,
    ):
        given = MountCredentials(access_key_id=KEY_ID, secret_access_key=SECRET, endpoint=stack.store.url)
        await box.mounts.create("data", "one")
        await box.mounts.create(BUCKET, "two", credentials=given)
        found = await box.exec(
            f"env; cat /proc/*/environ /proc/*/cmdline; mount; ls -l /proc/*/fd; grep -rs {SECRET[:5]} /run /tmp ."
        )
        assert SECRET.encode() not in found.stdout + found.stderr
        assert KEY_ID.encode() not in found.stdout
        assert b"rclone" not in found.stdout
        rclones = stack.rclones()
        assert len(rclones) == 2
        for process in rclones:
            assert SECRET not in " ".join(process.cmdline())
            assert process.uids().real not in (0, stack.user_of_programs(box.id))
        assert not [each for each in psutil.disk_partitions(all=True) if "hawse" in each.fstype]  # on the host


@pytest.mark.parametrize("lost", ["rclone", "runtime", "gateway", "everything"])
async def test_mounts_come_back_when_processes_are_killed(stack: Mounting, lost: str) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        box = await hw.sandboxes.create(id="box")
        await hw.sandbox("box").mounts.create("data", "data")
        await box.exec("echo before > data/before")
        await until_stored(stack.store, "team/owner/before", b"before\n")
        stack.store.suspend()
        await box.exec("echo unsent > data/unsent")
        if lost in ("gateway", "everything"):
            await stack.kill()
        killed = [*(stack.sandbox_processes("box") if lost in ("runtime", "everything") else ())]
        killed += stack.rclones() if lost in ("rclone", "everything") else ()
        for process in killed:
            with suppress(psutil.NoSuchProcess):  # it has ended together with another one
                process.kill()
            await until(partial(has_ended, process))
        stack.store.resume()
    if lost in ("gateway", "everything"):
        await stack.start()
    async with hawse.connect(stack.base, token=stack.token) as hw:
        await until_stored(stack.store, "team/owner/unsent", b"unsent\n")
        again = hw.sandbox("box")
        await again.exec("true")
        await until_state(hw, "box", "mounted")
        done = await again.exec("cat data/before data/unsent; echo after > data/after; mount | grep -c fuse.hawse")
        assert done.stdout == b"before\nunsent\n1\n"
        await until_stored(stack.store, "team/owner/after", b"after\n")
        await again.delete()
        await until(lambda: not stack.rclones())


async def test_what_was_written_is_uploaded_after_the_sandbox_was_deleted(stack: Mounting) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        async with hw.sandboxes.create() as box:
            await box.mounts.create("data", "data")
            await box.exec("echo last > data/last")
        await until_stored(stack.store, "team/owner/last", b"last\n")
        await until(lambda: not stack.rclones() and not list((stack.state / "mounts").iterdir()))


async def test_a_store_that_does_not_answer_is_an_error_and_no_hang(stack: Mounting) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        await stack.store.put("team/owner/a.txt", b"hello")
        async with hw.sandboxes.create() as box:
            mount = await box.mounts.create("data", "data")
            stack.store.suspend()
            await box.exec("echo late > data/late", check=True)
            done = await box.exec("cat data/a.txt", timeout=LIMIT)
            assert b"Input/output error" in done.stderr
            with pytest.raises(HawseError) as raised:
                await box.mounts.delete(mount.id, timeout=0.5)
            assert (raised.value.code, raised.value.details["pending"]) == ("unavailable", 1)
            [left] = await box.mounts.list()
            assert (left.state, left.pending) == ("deleting", 1)
            stack.store.resume()
            await until_stored(stack.store, "team/owner/late", b"late\n")
            async with asyncio.timeout(LIMIT):
                while await box.mounts.list():  # noqa: ASYNC110  # no event
                    await asyncio.sleep(0.1)
            assert stack.rclones() == []


async def test_what_cannot_be_mounted_is_a_typed_error_and_leaves_nothing(stack: Mounting) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        box = await hw.sandboxes.create(id="box")
        await box.exec("mkdir full && touch full/x && ln -s /etc link && touch file")
        wrong = MountCredentials(access_key_id=KEY_ID, secret_access_key=SECRET, endpoint="http://127.0.0.1:9")
        right = msgspec.structs.replace(wrong, endpoint=stack.store.url)
        for bucket, path, options, code in (
            ("data", "full", {}, "conflict"),
            ("data", "link", {}, "not_directory"),
            ("data", "link/x", {}, "not_directory"),
            ("data", "file", {}, "not_directory"),
            ("data", "../x", {}, "invalid_params"),
            ("data", ".", {}, "invalid_params"),
            ("data", "/etc/x", {}, "invalid_params"),
            ("data", "x", {"prefix": "../owner2"}, "invalid_params"),
            ("data", "x", {"prefix": "/owner2"}, "invalid_params"),
            ("nothing", "x", {}, "not_found"),
            ("shared", "x", {"prefix": "missing"}, "unavailable"),
            (BUCKET, "x", {"credentials": wrong}, "io_error"),
            ("bucket-that-nobody-has", "x", {"credentials": right}, "not_found"),
            ("bucket-that-nobody-has", "x", {"credentials": right, "prefix": "a/b", "read_only": True}, "not_found"),
            ("../x", "x", {"credentials": wrong}, "invalid_params"),
        ):
            with pytest.raises(HawseError) as raised:
                await hw.sandbox("box").mounts.create(bucket, path, **options)
            assert raised.value.code == code, (bucket, path, options, raised.value)
        assert await hw.sandbox("box").mounts.list() == []
        await hw.sandbox("box").mounts.create("data", "one")
        with pytest.raises(HawseError, match="cannot contain another") as raised:
            await hw.sandbox("box").mounts.create("shared", "one/two")
        await hw.sandbox("box").mounts.create("shared", "two")
        with pytest.raises(HawseError, match="at most 2 mounts"):
            await hw.sandbox("box").mounts.create("shared", "three")
        await box.processes.start("exec sleep 100", cwd="two")
        [_, two] = await hw.sandbox("box").mounts.list()
        with pytest.raises(HawseError, match="programs are using files") as raised:
            await hw.sandbox("box").mounts.delete(two.id)
        assert raised.value.code == "conflict"
        await hw.sandbox("box").mounts.delete(two.id, force=True)


async def test_users_mount_what_is_theirs(stack: Mounting) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        created = await hw.tokens.create(user="ana", own=True)
        async with hawse.connect(stack.base, token=created.token) as ana:
            box = await ana.sandboxes.create()
            await ana.sandbox(box.id).mounts.create("data", "data")
            await box.exec("echo mine > data/mine")
            await until_stored(stack.store, "team/ana/mine", b"mine\n")
            with pytest.raises(HawseError) as raised:
                await ana.sandbox(box.id).mounts.create("shared", "x")
            assert raised.value.code == "not_found"
            given = MountCredentials(access_key_id=KEY_ID, secret_access_key=SECRET, endpoint=stack.store.url)
            with pytest.raises(HawseError) as raised:
                await ana.sandbox(box.id).mounts.create(BUCKET, "x", credentials=given)
            assert raised.value.code == "forbidden"
            other = await ana.sandboxes.create()
            await other.mounts.create("data", "data", read_only=True)
            with pytest.raises(HawseError, match="'ana' has reached the limit of 2 mounts") as raised:
                await other.mounts.create("data", "more")
            assert raised.value.code == "limit_exceeded"
            await hw.sandbox(other.id).mounts.create("data", "more")  # a user with full rights has no limit
            await box.delete()
            await other.delete()


@pytest.mark.soak
@pytest.mark.timeout(900)
async def test_a_gigabyte_is_the_same_after_it_was_written_and_read(stack: Mounting) -> None:
    async with (
        hawse.connect(stack.base, token=stack.token) as hw,
        hw.sandboxes.create() as box,
    ):
        mount = await box.mounts.create("data", "data")
        script = "head -c 1073741824 /dev/urandom | tee data/big | sha256sum"
        written = (await box.exec(script, timeout=600)).stdout.split()[0]
        await box.mounts.delete(mount.id, timeout=600)
        assert (await stack.store.sha256("team/owner/big")).encode() == written
        await box.mounts.create("data", "data")
        read = await box.exec("sha256sum < data/big", timeout=600)
        assert read.stdout.split()[0] == written


async def test_a_backup_and_a_restore_leave_the_bucket_alone(stack: Mounting) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        await stack.store.put("team/owner/object", b"of the bucket")
        async with hw.sandboxes.create() as box:
            mount = await box.mounts.create("data", "sub/data")
            await box.files.write("sub/f", b"own")
            backup = await hw.backups.create(box.id, "sub", name="b")
            assert (backup.entries, backup.bytes) == (2, 3), "the directory and the file"
            for path in ("sub", "."):
                with pytest.raises(HawseError, match="is a mount") as refused:
                    await hw.backups.restore(backup.id, path=path)
                assert refused.value.code == "conflict"
            assert (await box.exec("cat sub/data/object sub/f")).text == "of the bucketown"
            await box.mounts.delete(mount.id)
            await hw.backups.restore(backup.id)
            assert await stack.store.content("team/owner/object") == b"of the bucket"
