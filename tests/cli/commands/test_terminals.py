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


def asks(gateway: Stack, name: str, command: str) -> None:
    async def work(client: Client, box: Sandbox) -> Any:
        return await box.call("terminal.create", {"id": name, "argv": ["sh", "-c", command]})

    Target(url=gateway.base, token=gateway.token).run(work)


def test_a_question_ends_a_wait_for_input(gateway: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    asks(gateway, "asking", "stty -echo; printf '\\033[1mPassword\\033[0m: '; read x; exit 3")
    assert main(["wait", "asking", "--for-input"]) == 0
    assert capsys.readouterr().out == "secret\tPassword:\n"
    assert main(["wait", "asking", "--for-input", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["waiting"]["kind"] == "secret"
    assert main(["terminals"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("asking")]
    assert line.split()[5] == "secret"
    assert main(["wait", "asking", "--timeout", "0.01"]) == 124
    assert main(["kill", "-t", "asking", "--grace", "0"]) == 0


def test_the_end_of_a_terminal_ends_a_wait_with_its_exit_code(gateway: Stack) -> None:
    asks(gateway, "ending", "exit 3")
    assert main(["wait", "ending", "--for-input"]) == 3
    assert main(["wait", "ending"]) == 3
    assert main(["wait", "missing"]) == 1
