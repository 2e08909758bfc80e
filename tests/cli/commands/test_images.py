"""`hawse image`, with a gateway that has no images, and the output for another one."""

import json

import pytest

from hawse.api.images import ImageInfo, ImageProgress
from hawse.cli import main
from hawse.cli.commands.images import short
from hawse.client import Images
from hawse.wire import HawseError
from tests.support.stack import Stack

INFO = ImageInfo(id="sha256:0123456789abcdef", names=["x:latest", "x:1"], size=2048)


@pytest.mark.parametrize("argv", [["ls"], ["pull", "x"], ["rm", "-y", "x"]])
def test_a_provider_without_images_is_reported(
    gateway: Stack, capsys: pytest.CaptureFixture[str], argv: list[str]
) -> None:
    assert main(["image", *argv]) == 1
    assert "provider local has no images" in capsys.readouterr().err


def test_images_are_printed(
    gateway: Stack, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def listed(self: Images, *, provider: str | None = None) -> list[ImageInfo]:
        return [INFO]

    async def pull(self: Images, image: str, *, provider: str | None = None, on_progress=None) -> ImageInfo:
        on_progress(ImageProgress(message="x: Extracting\x1b", progress=0.5))
        return INFO

    monkeypatch.setattr(Images, "list", listed)
    monkeypatch.setattr(Images, "pull", pull)
    assert main(["image", "ls"]) == 0
    assert [line.split()[:2] for line in capsys.readouterr().out.splitlines()[1:]] == [
        ["x:latest", "0123456789ab"],
        ["x:1", "0123456789ab"],
    ]
    assert main(["image", "ls", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["size"] == 2048
    assert main(["image", "pull", "x"]) == 0
    assert " 50% x: Extracting" in capsys.readouterr().err


def test_the_other_images_are_pulled_and_removed_if_one_fails(
    gateway: Stack, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    async def fake(self: Images, image: str, **_: object) -> ImageInfo:
        asked.append(image)
        if image == "missing":
            raise HawseError("not_found", "no such image")
        return INFO

    monkeypatch.setattr(Images, "pull", fake)
    monkeypatch.setattr(Images, "remove", fake)
    for command in (["pull", "--json"], ["rm", "-y"]):
        assert main(["image", *command, "missing", "x"]) == 1
        printed = capsys.readouterr()
        assert printed.err == "Error: missing: not_found: no such image\n"
        assert len(json.loads(printed.out or "[{}]")) == 1
    assert asked == ["missing", "x"] * 2


def test_an_id_is_printed_as_the_docker_command_does() -> None:
    assert short(INFO.id) == "0123456789ab"
