"""The secret of a display, and the answers of an X server that does not answer as it should."""

import pytest

from hawse.wire import HawseError
from hawse_runtime.desktop.x11 import authority, list_windows, window_manager_answers
from tests.support.runtime import Client, Served


def test_the_file_with_the_secret_has_the_form_of_xauth() -> None:
    assert authority(b"0123456789abcdef") == b"\xff\xff\0\0\0\0\0\x12MIT-MAGIC-COOKIE-1\0\x100123456789abcdef"


async def test_the_windows_of_a_display_need_its_secret(desktop: Client, served: Served) -> None:
    running = served.runtime.desktops.registry.get("main")
    assert running.display is not None
    assert await list_windows(running.display, running.cookie) == []
    assert await window_manager_answers(running.display, running.cookie)
    with pytest.raises(HawseError, match="refused") as refused:
        await list_windows(running.display, bytes(16))
    assert refused.value.code == "io_error"


async def test_a_display_that_is_not_there_is_an_error() -> None:
    with pytest.raises(HawseError) as failed:
        await list_windows(60_000, bytes(16))
    assert failed.value.code == "io_error"
