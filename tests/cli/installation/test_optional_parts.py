"""Each optional program and package is reported, and how to install it where it is missing."""

import tomllib
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from hawse.api.code import CodeLanguage
from hawse.cli import main
from hawse.cli.installation import optional_parts
from hawse.client import Sandbox

ROOT = Path(__file__).parents[3]


def test_a_machine_with_everything_lacks_nothing() -> None:
    found = {check.name: check.text for check in optional_parts.of_machine()}
    assert found["filtered networks"] == "the package cryptography is installed"
    assert {name for name, _, _ in optional_parts.PACKAGES} <= found.keys()
    elsewhere = (
        "mounts",
        "overlays of backups",
        "tunnels through Cloudflare",
    )  # a machine of tests may lack /dev/fuse and cloudflared
    assert not [text for name, text in found.items() if "not available" in text and name not in elsewhere]


def test_a_machine_with_nothing_says_how_to_install_each_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optional_parts, "find_spec", lambda name: None)
    monkeypatch.setattr("shutil.which", lambda name, path=None: None)
    found = {check.name: check for check in optional_parts.of_machine()}
    assert {check.result for check in found.values()} == {"ok"}
    assert found["sandboxes of Docker"].text == "not available: pip install 'hawse[docker]'"
    assert found["workspaces of a fixed size"].text == "not available: apt install e2fsprogs"
    assert "apt install rclone" in found["mounts"].text
    assert "apt install squashfs-tools" in found["overlays of backups"].text


def test_each_package_is_one_of_its_extra() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    projects = {"PIL": "pillow", "opentelemetry": "opentelemetry-sdk"}
    for _, package, extra in optional_parts.PACKAGES:
        assert any(one.startswith(projects.get(package, package)) for one in extras[extra]), package


class Box:
    """A sandbox that has only Python."""

    id = "box"

    def __init__(self) -> None:
        self.desktop = SimpleNamespace(unavailable=self._desktop)
        self.code = SimpleNamespace(languages=self._languages)

    async def _desktop(self) -> str:
        return "a desktop requires the programs Xvnc: install them"

    async def _languages(self) -> list[CodeLanguage]:
        python = CodeLanguage(language="python", kernel="python3", title="Python 3")
        return [python, CodeLanguage(language="typescript", install="install Deno")]

    async def exec(self, command: str, **_: Any) -> Any:
        assert "git" in command
        return SimpleNamespace(stdout=b"git\n")


async def test_a_sandbox_says_what_it_lacks() -> None:
    found = {check.name: check.text for check in await optional_parts.of_sandbox(cast(Sandbox, Box()))}
    assert found == {
        "desktop": "not available: a desktop requires the programs Xvnc: install them",
        "git": "not available: the sandbox lacks it: apt-get install git",
        "code in python": "Python 3",
        "code in typescript": "not available: install Deno",
    }


@pytest.mark.parametrize("command", [["serve"], ["bundle", "image.tar"], ["join", "http://127.0.0.1:9"]])
def test_a_command_that_needs_the_server_names_the_command_that_installs_it(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(optional_parts, "find_spec", lambda name: None if name == "uvicorn" else find_spec(name))
    assert main(command) == 1
    assert capsys.readouterr().err == (
        f"Error: `hawse {command[0]}` needs the server (uvicorn not found): pip install 'hawse[server]'\n"
    )


def test_a_system_that_is_not_linux_is_a_client_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    assert main(["serve"]) == 1
    assert "needs Linux" in capsys.readouterr().err
