"""`hawse mount` with a live gateway whose sandboxes are in bubblewrap."""

import json
from pathlib import Path

import pytest

from hawse.cli import main
from hawse.cli.target import Target
from hawse.client import Client, Sandbox
from tests.support.stack import Stack


async def test_a_directory_is_mounted_listed_and_removed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import asyncio

    shared = tmp_path / "shared"
    (shared / "sub").mkdir(parents=True)
    (shared / "sub/x").write_text("of the host")
    file = tmp_path / "mounts.toml"
    file.write_text(f'[directories.shared]\npath = "{shared}"\n')
    async with Stack(tmp_path / "state", "--mounts", str(file), isolation="bubblewrap") as stack:
        monkeypatch.setenv("HAWSE_URL", stack.base)
        monkeypatch.setenv("HAWSE_TOKEN", stack.token)
        await asyncio.to_thread(use, Target(url=stack.base, token=stack.token), capfd)


def use(target: Target, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["mount", "create", "shared", "data", "--prefix", "sub", "--read-only"]) == 0
    id = capfd.readouterr().out.strip()
    assert main(["mount", "ls"]) == 0
    assert capfd.readouterr().out.splitlines()[1].split() == [id, "data", "shared/sub", "read-only", "mounted", "0"]

    async def work(client: Client, box: Sandbox) -> str:
        return (await box.exec("cat data/x", check=True)).text

    assert target.run(work) == "of the host"
    assert main(["mount", "rm", "--yes", id]) == 0
    assert main(["mount", "ls", "--json"]) == 0
    assert json.loads(capfd.readouterr().out) == []
    assert main(["mount", "create", "nothing", "data"]) == 1
    assert "no bucket or directory 'nothing'" in capfd.readouterr().err


def test_own_credentials_come_from_variables(
    gateway: Stack, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    assert main(["mount", "create", "bucket", "data", "--own-credentials"]) == 2
    assert "AWS_ACCESS_KEY_ID" in capfd.readouterr().err
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "id")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "key")
    assert main(["mount", "create", "bucket", "data", "--endpoint", "http://127.0.0.1:9"]) == 1
    assert "without isolation" in capfd.readouterr().err
