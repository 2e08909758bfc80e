import json
from typing import Any

import pytest

from hawse.cli import main
from hawse.cli.target import Target
from hawse.client import Client, Sandbox
from tests.support.stack import Stack


async def start(client: Client, box: Sandbox) -> Any:
    return await box.call("terminal.create", {"id": "listed", "argv": ["sh"], "cols": 90, "rows": 20})


async def end(client: Client, box: Sandbox) -> Any:
    return await box.call("terminal.kill", {"id": "listed", "grace": 0})


def test_terminals_are_listed_with_size_and_state(gateway: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    target = Target(url=gateway.base, token=gateway.token)
    target.run(start)
    assert main(["terminals"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("listed")]
    assert line.split()[1:4] == ["running", "90x20", "0"]
    target.run(end)
    assert main(["terminals", "--json"]) == 0
    (info,) = [each for each in json.loads(capsys.readouterr().out) if each["id"] == "listed"]
    assert info["state"] == "exited"
