import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hawse.cli import main
from hawse.cli.commands.recordings import CastEvent, events
from hawse.cli.target import Target
from hawse.client import Client, Sandbox
from tests.support.stack import Stack


@pytest.fixture
def terminal(gateway: Stack) -> str:
    name = f"t-{secrets.token_hex(4)}"

    async def work(client: Client, box: Sandbox) -> Any:
        await box.call("terminal.create", {"id": name, "argv": ["sh", "-c", "read a; echo printed-$a; sleep 1000"]})

    Target(url=gateway.base, token=gateway.token).run(work)
    return name


def test_a_terminal_is_recorded_listed_and_played(
    gateway: Stack, terminal: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["record", terminal, "--title", "a title"]) == 0
    name = capfd.readouterr().out.strip()

    async def type_(client: Client, box: Sandbox) -> None:
        async with box.terminals.attach(terminal) as attached:
            await attached.write(b"text\n")
            async for data in attached:
                if b"printed-text" in data:
                    return

    Target(url=gateway.base, token=gateway.token).run(type_)
    assert main(["record", terminal, "--stop"]) == 0
    assert capfd.readouterr().out.strip() == name
    main(["recordings"])
    (line,) = [line for line in capfd.readouterr().out.splitlines() if line.startswith(name)]
    assert "finished" in line
    assert "a title" in line
    assert main(["play", name, "--idle-limit", "0"]) == 0
    assert "printed-text" in capfd.readouterr().out
    saved = tmp_path / "saved.cast"
    assert main(["play", name, "--output", str(saved)]) == 0
    assert json.loads(saved.read_text().splitlines()[0])["version"] == 3
    capfd.readouterr()
    assert main(["play", str(saved), "--idle-limit", "0"]) == 0
    assert "printed-text" in capfd.readouterr().out
    assert main(["recordings", "--delete", name]) == 2, "a script has to say --yes"
    assert main(["recordings", "--delete", name, "--yes"]) == 0
    capfd.readouterr()
    main(["recordings"])
    assert name not in capfd.readouterr().out


def test_a_missing_recording_is_reported(gateway: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["play", "missing"]) == 1
    assert "not_found" in capsys.readouterr().err


def parse(text: bytes) -> list[CastEvent]:
    async def lines() -> AsyncIterator[bytes]:
        for line in text.split(b"\n"):
            yield line

    async def collect() -> list[CastEvent]:
        return [event async for event in events(lines())]

    return asyncio.run(collect())


def test_version_3_has_delays_and_version_2_has_times() -> None:
    third = b'{"version":3}\n# a comment\n[0.5,"o","a"]\n[0.25,"r","80x24"]\n'
    assert parse(third) == [CastEvent(0.5, "o", "a"), CastEvent(0.25, "r", "80x24")]
    second = b'{"version":2}\n[0.5,"o","a"]\n[0.75,"o","b"]\n'
    assert parse(second) == [CastEvent(0.5, "o", "a"), CastEvent(0.25, "o", "b")]


def test_a_last_line_that_is_cut_off_ends_the_recording() -> None:
    assert parse(b'{"version":3}\n[0.5,"o","a"]\n[0.5,"o",') == [CastEvent(0.5, "o", "a")]


@pytest.mark.parametrize("text", [b"text", b"[]", b'{"version":1}', b'{"version":3}\n{}', b'{"version":3}\n[1,2]'])
def test_anything_else_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError):
        parse(text)


def test_a_file_that_does_not_exist_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["play", "/no/such.cast"]) == 1
    assert "/no/such.cast: no such file" in capsys.readouterr().err
