"""`hawse backup` with a live gateway."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from hawse.cli import main
from hawse.cli.target import Target
from hawse.client import Client, Sandbox
from tests.support.stack import Stack


def run(gateway: Stack, command: str) -> str:
    async def work(client: Client, box: Sandbox) -> str:
        return (await box.exec(command, check=True)).text

    return Target(url=gateway.base, token=gateway.token).run(work)


def test_a_directory_is_saved_listed_restored_and_forgotten(gateway: Stack, capfd: pytest.CaptureFixture[str]) -> None:
    run(
        gateway,
        "mkdir -p saved && echo one > saved/f && touch saved/x.log && python3 -c "
        "'import socket; socket.socket(socket.AF_UNIX).bind(\"saved/s\")'",
    )
    assert main(["backup", "create", "saved", "--name", "first", "--exclude", "*.log"]) == 0
    printed = capfd.readouterr()
    id = printed.out.strip()
    assert printed.err == "hawse: 1 devices or sockets were skipped\n"
    assert main(["backup", "ls"]) == 0
    assert capfd.readouterr().out.splitlines()[1].split()[:3] == [id, "local", "saved"]
    assert main(["backup", "ls", "--all", "--json"]) == 0
    assert [one["name"] for one in json.loads(capfd.readouterr().out)] == ["first"]
    assert main(["backup", "usage", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["backups"] == 1
    run(gateway, "echo two > saved/f")
    assert main(["backup", "restore", "--yes", id]) == 0
    assert capfd.readouterr().out == "2 entries, 4 B\n"
    assert run(gateway, "cat saved/f") == "one\n"
    assert main(["backup", "restore", "--yes", id, "elsewhere", "--json"]) == 0
    assert json.loads(capfd.readouterr().out) == {"entries": 2, "bytes": 4}
    assert run(gateway, "ls elsewhere") == "f\n"
    assert main(["backup", "create", "saved", "--compression", "none", "--ttl", "60", "--json"]) == 0
    other = json.loads(capfd.readouterr().out)
    assert other["format"] == "tar"
    assert main(["sandbox", "snapshot", "--name", "second"]) == 0
    snapshot = capfd.readouterr().out.strip()
    assert main(["sandbox", "create", "copied", "--snapshot", snapshot]) == 0
    assert capfd.readouterr().out == "copied\n"
    assert main(["cat", "-s", "copied", "saved/f"]) == 0
    assert capfd.readouterr().out == "one\n"
    assert main(["sandbox", "rm", "--yes", "copied"]) == 0
    assert main(["backup", "rm", "--yes", id, "missing", other["id"], snapshot]) == 1
    assert "Error: missing: not_found: unknown backup 'missing'" in capfd.readouterr().err
    assert main(["backup", "ls", "--all", "--json"]) == 0
    assert json.loads(capfd.readouterr().out) == []
    assert main(["backup", "restore", "--yes", id]) == 1
    assert f"not_found: unknown backup '{id}'" in capfd.readouterr().err


@pytest.mark.skipif(os.getuid() != 0, reason="the tests of the local provider run as the superuser")
async def test_an_overlay_is_restored_listed_and_removed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Stack(tmp_path / "state", isolation="bubblewrap") as stack:
        monkeypatch.setenv("HAWSE_URL", stack.base)
        monkeypatch.setenv("HAWSE_TOKEN", stack.token)
        await asyncio.to_thread(use_overlay, stack, capfd)


def use_overlay(stack: Stack, capfd: pytest.CaptureFixture[str]) -> None:
    run(stack, "mkdir t && echo one > t/f")
    assert main(["backup", "create", "t", "--overlay"]) == 0
    id = capfd.readouterr().out.strip()
    assert main(["backup", "restore", "--mode", "overlay", id, "o"]) == 0  # it asks nothing: nothing is removed
    printed = capfd.readouterr().out.split()
    assert printed[:3] == ["2", "entries,", "mount"]
    assert run(stack, "echo two >> o/f; cat o/f") == "one\ntwo\n"
    assert main(["mount", "ls"]) == 0
    assert capfd.readouterr().out.splitlines()[1].split() == [printed[3], "o", "backup", id, "mounted", "0"]
    assert main(["backup", "restore", "--mode", "overlay", id, "t"]) == 1
    assert "conflict: the mount failed: the directory is not empty" in capfd.readouterr().err
    assert main(["mount", "rm", "--yes", printed[3]]) == 0
    assert run(stack, "ls -A o") == ""
