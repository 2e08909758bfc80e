"""`file.write`: a file is replaced as a whole or not at all, at exact offsets, and no temporary file is left."""

import os
import resource
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hawse.wire import HawseError
from hawse_runtime.files.write import UploadLimits
from hawse_runtime.settings import RuntimeLimits
from tests.support.runtime import Client, Served, eventually
from tests.support.waiting import exists, in_directory

DATA = b"".join(b"%07d\n" % n for n in range(100_000))


async def read(client: Client, **params: Any) -> tuple[bytes, Any]:
    call = client.call("file.read", params)
    result = await call.result()
    return bytes(call.output), result


async def write(client: Client, data: bytes, *, key: str | None = None, **params: Any) -> Any:
    call = client.call("file.write", {"input": "i", **params}, key=key)
    await call.type(data)
    call.end()
    return await call.result()


def temporaries(served: Served) -> list[Path]:
    return list(served.workspace.rglob(".hawse-*"))


async def test_a_write_replaces_the_file_atomically_and_keeps_its_mode(client: Client, served: Served) -> None:
    file = served.workspace / "f"
    file.write_text("old")
    file.chmod(0o750)
    call = client.call("file.write", {"path": "f", "input": "i"})
    await call.type(DATA)
    await client.info()
    assert file.read_text() == "old"
    call.end()
    result = await call.result()
    assert file.read_bytes() == DATA
    assert result == {"bytes": len(DATA), "version": (await client.ask("file.stat", path="f"))["version"]}
    assert stat.S_IMODE(file.stat().st_mode) == 0o750
    assert temporaries(served) == []


async def test_a_cancelled_upload_is_released_at_once(client: Client, served: Served) -> None:
    call = client.call("file.write", {"path": "f", "input": "i"}, key="k")
    await call.type(DATA)
    await in_directory(served.workspace, lambda: temporaries(served))
    await client.ask("file.cancel", {"key": "k"})
    await in_directory(served.workspace, lambda: not temporaries(served))
    with pytest.raises(HawseError, match="cancelled"):
        await call.result()
    await client.ask("file.cancel", {"key": "k"})
    await client.ask("file.cancel", {"key": "never"})
    assert not (served.workspace / "f").exists()


async def test_a_mode_is_set_and_parent_directories_are_made(client: Client, served: Served) -> None:
    await write(client, b"x", path="a/b/c", mode=0o600)
    assert stat.S_IMODE((served.workspace / "a/b/c").stat().st_mode) == 0o600
    await write(client, b"", path="a/empty")
    assert (served.workspace / "a/empty").read_bytes() == b""
    assert stat.S_IMODE((served.workspace / "a/empty").stat().st_mode) == 0o644


async def test_a_symlink_stays_and_its_target_is_replaced(client: Client, served: Served) -> None:
    (served.workspace / "d").mkdir()
    target, link = served.workspace / "d/target", served.workspace / "link"
    target.write_text("old")
    link.symlink_to("d/target")
    await write(client, b"new", path="link")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert (await read(client, path="link"))[0] == b"new"


async def test_a_name_of_legal_length_can_be_written(client: Client, served: Served) -> None:
    await write(client, b"x", path="n" * 255)
    assert (served.workspace / ("n" * 255)).exists()


def write_with(served: Served, write: Callable[[int, memoryview], int]) -> None:
    """Let the next uploads write to their files with `write`."""
    uploads = served.runtime.files.uploads
    uploads.context = replace(uploads.context, write=write)


def stalled_until(disk_works: threading.Event) -> Callable[[int, memoryview], int]:
    def write(fd: int, data: memoryview) -> int:
        assert disk_works.wait(20)
        return os.write(fd, data)

    return write


async def test_a_full_disk_is_a_typed_error_and_leaves_no_temporary_file(client: Client, served: Served) -> None:
    def full(fd: int, data: memoryview) -> int:
        raise OSError(28, "No space left on device")

    write_with(served, full)
    call = client.call("file.write", {"path": "f", "input": "i"})
    call.send(b"data")
    error = await call.refusal()
    assert (error.code, error.retryable) == ("no_space", True)
    assert temporaries(served) == []


async def test_an_upload_without_a_key_that_is_disconnected_or_cancelled_leaves_no_file_behind(served: Served) -> None:
    async with served.client() as client:
        cancelled, cut = (client.call("file.write", {"path": name, "input": "i"}) for name in ("a", "b"))
        for call in (cancelled, cut):
            await call.type(DATA)
        for call in (cancelled, cut):
            await call.until(lambda: call.granted)  # noqa: B023
        assert len(temporaries(served)) == 2
        cancelled.cancel()
        await in_directory(served.workspace, lambda: len(temporaries(served)) == 1)
    await in_directory(served.workspace, lambda: not temporaries(served))
    assert list(served.workspace.iterdir()) == []


async def test_a_keyed_upload_is_resumed_at_the_exact_byte_after_a_lost_connection(served: Served) -> None:
    params = {"path": "f", "input": "i"}
    async with served.client() as client:
        first = client.call("file.write", params, key="k")
        await first.type(DATA[:300_000])
    async with served.client() as client:
        second = client.call("file.write", params, key="k")
        applied = (await second.event("opened"))["input_offset"]
        assert 0 < applied <= 300_000
        second.sent = applied
        second.send(DATA[applied - 1000 : applied], offset=applied - 1000)  # again: it is ignored
        await second.type(DATA[applied:])
        second.end()
        result = await second.result()
        assert result["bytes"] == len(DATA)
        assert (served.workspace / "f").read_bytes() == DATA
        again = client.call("file.write", params, key="k")
        assert await again.result() == result
        assert (await client.refused("file.write", {"path": "g", "input": "i"}, key="k")).code == "key_conflict"
    assert temporaries(served) == []


async def test_a_resumed_upload_gets_no_credit_for_bytes_that_an_earlier_call_sent(
    client: Client, served: Served
) -> None:
    disk_works = threading.Event()
    write_with(served, stalled_until(disk_works))
    params = {"path": "f", "input": "i"}
    old = client.call("file.write", params, key="k")
    await old.type(DATA[:200_000])
    new = client.call("file.write", params, key="k")
    assert (await new.event("opened"))["input_offset"] == 200_000
    disk_works.set()
    new.send(DATA[200_000:200_003], offset=200_000)
    await new.until(lambda: new.granted)
    assert new.granted == 3
    new.end()
    assert (await new.result())["bytes"] == 200_003
    assert (served.workspace / "f").read_bytes() == DATA[:200_003]


@pytest.mark.parametrize("limits", [RuntimeLimits(uploads=UploadLimits(queue=1000))])
async def test_an_upload_with_too_much_waiting_for_the_disk_is_not_resumed(client: Client, served: Served) -> None:
    disk_works = threading.Event()
    write_with(served, stalled_until(disk_works))
    params = {"path": "f", "input": "i"}
    old = client.call("file.write", params, key="k")
    await old.type(DATA[:2000])
    refused = await client.refused("file.write", params, key="k")
    assert (refused.code, refused.retryable) == ("limit_exceeded", True)
    disk_works.set()
    old.end()
    assert (await old.result())["bytes"] == 2000


async def test_a_repeat_takes_the_upload_from_a_call_that_is_still_open(client: Client, served: Served) -> None:
    params = {"path": "f", "input": "i"}
    old = client.call("file.write", params, key="k")
    await old.type(b"abc")
    new = client.call("file.write", params, key="k")
    assert (await old.refusal()).code == "interrupted"
    assert (await new.event("opened"))["input_offset"] == 3
    new.send(b"def", offset=3)
    new.end()
    assert (await new.result())["bytes"] == 6
    assert (served.workspace / "f").read_bytes() == b"abcdef"


@pytest.mark.parametrize("limits", [RuntimeLimits(uploads=UploadLimits(resume_timeout=0.05))])
async def test_a_keyed_upload_that_is_not_resumed_is_dropped(served: Served) -> None:
    async with served.client() as client:
        call = client.call("file.write", {"path": "f", "input": "i"}, key="k")
        await call.type(DATA[:100_000])
        await call.until(lambda: call.granted)
    await in_directory(served.workspace, lambda: not temporaries(served))
    async with served.client() as client:
        error = await client.refused("file.write", {"path": "f", "input": "i"}, key="k")
        assert error.code == "cancelled"


async def test_an_ended_upload_is_finished_although_its_connection_is_lost(served: Served) -> None:
    async with served.client() as client:
        call = client.call("file.write", {"path": "f", "input": "i"})
        await call.type(DATA)
        call.end()
        await client.info()
    await exists(served.workspace / "f")
    assert (served.workspace / "f").read_bytes() == DATA


async def test_a_gap_ends_the_call(client: Client) -> None:
    call = client.call("file.write", {"path": "f", "input": "i"})
    call.send(b"x", offset=5)
    error = await call.refusal()
    assert (error.code, error.details) == ("input_gap", {"applied": 0})


@pytest.mark.parametrize("limits", [RuntimeLimits(uploads=UploadLimits(running=1))])
async def test_uploads_beyond_the_limit_are_refused(client: Client) -> None:
    first = client.call("file.write", {"path": "f", "input": "i"})
    await first.event("opened")
    assert (await client.refused("file.write", path="g", input="i")).code == "limit_exceeded"
    first.cancel()
    await first.refusal()
    assert (await write(client, b"x", path="g"))["bytes"] == 1


async def abandon(client: Client, name: str) -> None:
    """Begin a keyed upload of one byte to `name`, and cancel the call."""
    call = client.call("file.write", {"path": name, "input": "i"}, key=name)
    await call.type(b"x")
    await call.until(lambda: call.granted)
    call.cancel()
    await call.refusal()


@pytest.mark.parametrize("limits", [RuntimeLimits(uploads=UploadLimits(running=2))])
async def test_uploads_without_a_sender_are_abandoned_in_favour_of_new_ones(client: Client, served: Served) -> None:
    for name in ("a", "b"):
        await abandon(client, name)
    assert len(temporaries(served)) == 2
    for number in range(3):
        assert (await write(client, b"x", key=f"k{number}", path="g"))["bytes"] == 1
    assert len(temporaries(served)) == 1, "only one of them was abandoned"
    resumed = client.call("file.write", {"path": "b", "input": "i"}, key="b")
    assert (await resumed.event("opened"))["input_offset"] == 1
    resumed.end()
    assert (await resumed.result())["bytes"] == 1
    assert (await client.refused("file.write", {"path": "a", "input": "i"}, key="a")).code == "cancelled"


@pytest.mark.parametrize("path", ["n" * 256, "d/" + "n" * 256])
async def test_a_name_that_no_file_can_have_is_an_invalid_parameter(client: Client, path: str) -> None:
    assert (await client.refused("file.write", {"path": path, "input": "i"})).code == "invalid_params"
    assert (await client.refused("file.read", {"path": path})).code in ("invalid_params", "not_found")
    assert (await client.refused("file.stat", {"path": path})).code in ("invalid_params", "not_found")


async def test_a_temporary_file_that_cannot_be_removed_is_logged_only(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def denied(path: str, *, dir_fd: int) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "unlink", denied)
    call = client.call("file.write", {"path": "f", "input": "i"})
    await call.type(b"x")
    await call.until(lambda: call.granted)
    call.cancel()
    await call.refusal()
    await eventually(lambda: "cannot remove a temporary file" in caplog.text)  # a thread logs it: no event of this loop
    await client.info()


async def test_a_file_above_the_size_limit_of_the_system_is_a_typed_error_and_leaves_no_file_behind(
    client: Client, served: Served
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        call = client.call("file.write", {"path": "f", "input": "i"})
        call.send(DATA[:60_000])
        call.send(DATA[60_000:120_000])
        assert (await call.refusal()).code == "too_large"
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert os.listdir(served.workspace) == []


async def test_a_directory_swapped_with_a_symlink_lets_no_upload_out_of_its_root(
    client: Client, served: Served
) -> None:
    (served.workspace / "out").mkdir()
    (served.workspace / "jail/d").mkdir(parents=True)
    (served.workspace / "jail/link").symlink_to("../out")
    jail, stop = served.workspace / "jail", threading.Event()

    def swap() -> None:
        while not stop.is_set():
            for source, target in (("d", "away"), ("link", "d"), ("d", "link"), ("away", "d")):
                os.rename(jail / source, jail / target)

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        for _ in range(100):
            try:
                await write(client, b"x", path="d/f", root="jail", parents=False)
            except HawseError as error:
                assert error.code in ("permission_denied", "not_found", "conflict")  # noqa: PT017
    finally:
        stop.set()
        swapper.join()
    assert os.listdir(served.workspace / "out") == []


async def test_a_write_can_require_a_version(client: Client, served: Served) -> None:
    created = await write(client, b"1", path="f", if_version="")
    with pytest.raises(HawseError, match="the file exists") as refused:
        await write(client, b"other", path="f", if_version="")
    assert (refused.value.code, refused.value.details) == ("conflict", {"version": created["version"]})
    second = await write(client, b"2", path="f", if_version=created["version"])
    with pytest.raises(HawseError, match="changed"):
        await write(client, b"late", path="f", if_version=created["version"])
    assert (await read(client, path="f"))[0] == b"2"
    (served.workspace / "f").unlink()
    with pytest.raises(HawseError, match="the file does not exist"):
        await write(client, b"3", path="f", if_version=second["version"])
    assert temporaries(served) == []


async def test_with_an_offset_a_file_is_continued_in_place(client: Client, served: Served) -> None:
    half, file = len(DATA) // 2, served.workspace / "f"
    call = client.call("file.write", {"path": "f", "input": "i", "offset": 0}, key="k")
    await call.type(DATA[:half])
    await in_directory(served.workspace, lambda: file.exists() and file.stat().st_size == half)
    await client.ask("file.cancel", {"key": "k"})
    with pytest.raises(HawseError, match="cancelled"):
        await call.result()
    assert file.read_bytes() == DATA[:half]
    result = await write(client, DATA[half:], path="f", offset=half, mode=0o600)
    assert result == {"bytes": len(DATA) - half, "version": (await client.ask("file.stat", path="f"))["version"]}
    assert file.read_bytes() == DATA
    for params, code in (({"offset": len(DATA) + 1}, "conflict"), ({"offset": 0, "if_version": ""}, "invalid_params")):
        with pytest.raises(HawseError, match=code):
            await write(client, b"", path="f", **params)
    assert temporaries(served) == []
