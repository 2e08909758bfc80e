"""A desktop as an object: its size, its variables, its end."""

from pathlib import Path

import pytest

from hawse.wire import HawseError
from hawse_runtime.desktop.desktop import check_programs, check_size
from hawse_runtime.desktop.rfb import ScreenSize
from tests.support.runtime import Client, Served, no_fd_leaked


def test_the_number_of_pixels_is_bounded() -> None:
    check_size(ScreenSize(3840, 2160))
    with pytest.raises(HawseError, match="8294400") as refused:
        check_size(ScreenSize(3840, 2161))
    assert refused.value.code == "invalid_params"


def test_missing_programs_are_named(tmp_path: Path) -> None:
    (tmp_path / "Xvnc").touch(mode=0o755)
    with pytest.raises(HawseError, match=r"the programs openbox: .*apt-get install") as refused:
        check_programs(str(tmp_path))
    assert (refused.value.code, refused.value.admitted) == ("unavailable", "yes")


async def test_the_socket_and_the_secret_are_for_this_user_only(desktop: Client, served: Served) -> None:
    running = served.runtime.desktops.registry.get("main")
    assert running.socket.stat().st_mode & 0o777 == 0o600
    assert running.socket.with_name("authority").stat().st_mode & 0o777 == 0o600
    assert running.xauthority == str(running.socket.with_name("authority"))
    assert running.socket.parent.stat().st_mode & 0o777 == 0o700


async def test_nothing_is_left_after_the_end(client: Client, served: Served) -> None:
    with no_fd_leaked():
        await client.ask("desktop.start", width=64, height=64)
        running = served.runtime.desktops.registry.get("main")
        folder = running.socket.parent
        await client.ask("desktop.stop")
        assert not folder.exists()
    with pytest.raises(HawseError, match="has ended"):
        running.describe()


async def test_a_server_that_does_not_start_is_reported_and_leaves_nothing(client: Client, tmp_path: Path) -> None:
    for name in ("Xvnc", "openbox"):
        (tmp_path / name).write_text("#!/bin/sh\necho no keyboard >&2\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    await client.ask("runtime.configure", revision=1, env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, ports=[])
    refused = await client.refused("desktop.start")
    assert refused.code == "unavailable"
    assert "no keyboard" in refused.message
    assert (await client.ask("desktop.list"))["desktops"] == []
