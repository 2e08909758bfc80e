"""Files through a real gateway: any name, any size, and lost connections. Nothing is left behind."""

import asyncio
import io
import os
import tarfile
from pathlib import Path
from typing import Any

import pytest

import hawse
from hawse.client import Options
from tests.support.proxy import CuttingProxy
from tests.support.stack import Stack
from tests.support.trees import seen

pytestmark = pytest.mark.asyncio(loop_scope="session")

QUICK = Options(backoff_cap=0.1)
CONTENT = b"".join(b"%015d\n" % n for n in range(250_000))  # 4 MB


def workspace(stack: Stack) -> Path:
    return stack.state / "sandboxes/local/workspace"


async def held(hw: hawse.Client) -> tuple[int, int]:
    info = await hw.sandbox().call("runtime.info")
    return info["open_fds"], info["tasks"]


async def settles(hw: hawse.Client, before: tuple[int, int]) -> None:
    """Wait until the runtime holds no more descriptors and tasks than `before`.

    Polls, because another process releases them without an event.
    """
    async with asyncio.timeout(20):
        while any(now > then for now, then in zip(await held(hw), before, strict=True)):  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_files_are_written_searched_copied_moved_archived_and_deleted(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        files = hw.sandbox().files
        before = await held(hw)
        await files.write_text("notes/käse.txt", "grüße\n")
        await files.write(b"notes/caf\xe9", b"latin")
        assert await files.read_text("notes/käse.txt") == "grüße\n"
        names = {entry.path: entry async for entry in files.list("notes", recursive=True)}
        assert set(names) == {"käse.txt", os.fsdecode(b"caf\xe9")}
        for name in names:  # a listed name can be used as a path
            assert (await files.stat("notes/" + name)).type == "file"
        found = [match async for match in files.search("gr..e", "notes")]
        assert [(match.path, match.line, match.text) for match in found] == [("käse.txt", 1, "grüße")]
        assert [match.path async for match in files.search(include=["*.txt"])] == ["notes/käse.txt"]
        with pytest.raises(hawse.HawseError, match="too_large"):
            [match async for match in files.search(limit=1)]
        await files.mkdir("a/b", parents=True)
        await files.copy("notes", "a/b/notes", recursive=True)
        await files.rename("a/b/notes/käse.txt", "a/b/notes/k")
        await files.chmod("a/b/notes/k", 0o600)
        await files.move("a/b", "c")
        assert (await files.stat("c/notes/k")).mode == 0o600
        archive = b"".join([chunk async for chunk in files.archive("c", format="tar")])
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            assert set(tar.getnames()) == {"notes", "notes/k", os.fsdecode(b"notes/caf\xe9")}
        with pytest.raises(hawse.HawseError, match="conflict"):
            await files.rename("c", "notes")
        with pytest.raises(hawse.HawseError, match="permission_denied"):
            await files.within("c").read("../notes/k")
        assert await files.delete("c", recursive=True) == 4
        assert not await files.exists("c")
        assert set(seen(workspace(stack) / "notes")) == {"käse.txt".encode(), b"caf\xe9"}
        await settles(hw, before)


@pytest.mark.soak
@pytest.mark.timeout(120)
async def test_uploads_and_downloads_survive_connections_that_are_lost_anywhere(stack: Stack, tmp_path: Path) -> None:
    (tmp_path / "local").write_bytes(CONTENT)
    steps: list[int] = []
    async with (
        hawse.connect(stack.base, token=stack.token, options=QUICK) as plain,
        CuttingProxy(stack.port, seed=3, cut_after=(20_000, 900_000), cuts_left=16) as proxy,
        hawse.connect(proxy.url, token=stack.token, options=QUICK) as hw,
    ):
        before = await held(plain)
        files = hw.sandbox().files
        done = await files.upload(tmp_path / "local", "up/big", progress=lambda so_far, size: steps.append(so_far))
        assert done.bytes == steps[-1] == len(CONTENT)
        assert (workspace(stack) / "up/big").read_bytes() == CONTENT
        assert await files.download("up/big", tmp_path / "back") == len(CONTENT)
        assert (tmp_path / "back").read_bytes() == CONTENT
        assert sorted(os.listdir(tmp_path)) == ["back", "local"]
        while proxy.cuts < 16:
            await files.read("up/big")
        await settles(plain, before)
    assert os.listdir(workspace(stack) / "up") == ["big"]


async def test_an_interrupted_download_is_resumed_at_its_offset(stack: Stack, tmp_path: Path) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        files = hw.sandbox().files
        await files.write("big", CONTENT)

        def give_up(so_far: int, size: int) -> None:
            if so_far > 1_000_000:
                raise InterruptedError

        with pytest.raises(InterruptedError):
            await files.download("big", tmp_path / "local", progress=give_up)
        (part,) = tmp_path.glob(".hawse-*.part")  # noqa: ASYNC240
        come = part.stat().st_size
        assert 1_000_000 < come < len(CONTENT)
        first: list[int] = []
        await files.download("big", tmp_path / "local", progress=lambda so_far, size: first.append(so_far))
        assert first[0] > come
        assert (tmp_path / "local").read_bytes() == CONTENT
        assert not part.exists()


async def test_clients_that_disconnect_at_every_step_leave_nothing_behind(stack: Stack, tmp_path: Path) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        files = hw.sandbox().files
        await files.write("d/big", CONTENT)
        for number in range(2000):
            (workspace(stack) / f"d/{number}").touch()
        before = await held(hw)

        async def disconnect_after(step: Any) -> None:
            async with CuttingProxy(stack.port) as proxy, hawse.connect(proxy.url, token=stack.token) as other:
                await step(other.sandbox().files)
                proxy.refuse()

        async def upload(files: Any) -> None:
            writer = await files.open_write("d/half").__aenter__()
            await writer.write(CONTENT[:300_000])

        async def download(files: Any) -> None:
            async for _ in await files.open_read("d/big").__aenter__():
                break

        async def archive(files: Any) -> None:
            await anext(files.archive("d"))

        async def list_(files: Any) -> None:
            await anext(files.list("d", recursive=True))

        for step in (download, archive, list_, download, archive, list_):
            await disconnect_after(step)
        await settles(hw, before)
        await disconnect_after(upload)  # it has a key, so it is kept for a while for a retry of the call
        assert len([name for name in os.listdir(workspace(stack) / "d") if name.startswith(".hawse-")]) <= 1


async def test_the_quota_of_the_gateway_applies_to_its_sandbox(tmp_path: Path) -> None:
    async with Stack(tmp_path, "--quota", "1000") as stack, hawse.connect(stack.base, token=stack.token) as hw:
        box = hw.sandbox()
        await box.files.write("small", b"x" * 900)
        with pytest.raises(hawse.HawseError, match="no_space"):
            await box.files.write("large", b"x" * 900)
