"""A live gateway for the sub-commands, and a configuration directory of the test's own."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.stack import Stack


@pytest.fixture(autouse=True)
def configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory that stands for ~/.config. No variable of the person that runs the tests has an effect."""
    for name in ("HAWSE_URL", "HAWSE_TOKEN", "HAWSE_SANDBOX", "HAWSE_STATE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config"


# Not `package`: without an __init__.py that is `session`, and the gateway would listen beside all later tests.
@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A gateway that the tests of a module share, with one sandbox."""
    with asyncio.Runner() as runner:
        folder = tmp_path_factory.mktemp("s")
        (folder / "templates.toml").write_text(
            '[small]\ndescription = "a small one"\nlimits = { memory = 67_108_864 }\n'
            '[files.files]\n"src/hello" = "hello\\n"\n'
        )
        stack = Stack(folder, "--templates", str(folder / "templates.toml"))
        runner.run(stack.start())
        yield stack
        runner.run(stack.close())


@pytest.fixture
def gateway(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> Stack:
    """The shared gateway, selected by the environment as a person would."""
    monkeypatch.setenv("HAWSE_URL", stack.base)
    monkeypatch.setenv("HAWSE_TOKEN", stack.token)
    return stack
