import json
from typing import Any

import pytest
from click.testing import CliRunner

from hawse.cli import main
from hawse.cli.command import hawse
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


# ---- questions


def start_asking(gateway: Stack, name: str, script: str) -> None:
    """Start a program, and wait until it asks."""

    async def work(client: Client, box: Sandbox) -> Any:
        await box.call("terminal.create", {"id": name, "argv": ["bash", "-c", script]})
        return await box.call("terminal.wait", {"id": name, "waiting": True})

    Target(url=gateway.base, token=gateway.token).run(work)


def ask(gateway: Stack, name: str, **params: Any) -> Any:
    async def work(client: Client, box: Sandbox) -> Any:
        return await box.questions.ask(name, "because", **params)

    return Target(url=gateway.base, token=gateway.token).run(work)


def printed(gateway: Stack, name: str, text: str) -> Any:
    async def work(client: Client, box: Sandbox) -> Any:
        return await box.call("terminal.wait", {"id": name, "pattern": text, "since": 0})

    return Target(url=gateway.base, token=gateway.token).run(work)["event"]


def open_questions(capsys: pytest.CaptureFixture[str], terminal: str) -> Any:
    capsys.readouterr()
    assert main(["inbox", "--json"]) == 0
    return [each for each in json.loads(capsys.readouterr().out) if each["terminal"] == terminal]


def test_a_question_is_listed_and_answered(gateway: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    start_asking(gateway, "q1", "read -p 'Name? ' x; echo hello $x; exec cat")
    id = ask(gateway, "q1").id
    assert main(["inbox"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith(id)]
    assert line.split()[1:3] == ["local", "line"]
    assert main(["answer", id, "Anna"]) == 0
    assert printed(gateway, "q1", "hello Anna") == "pattern"
    assert open_questions(capsys, "q1") == []
    assert main(["answer", id, "again"]) == 1
    assert main(["kill", "-t", "q1", "--grace", "0"]) == 0


def test_a_secret_is_asked_for_and_never_an_argument(gateway: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    start_asking(gateway, "q2", "read -s -p 'Password: ' x; echo; echo ${#x} characters; exec cat")
    (question,) = open_questions(capsys, "q2")
    assert (question["sandbox"], question["kind"], question["source"]) == ("local", "secret", "runtime")
    assert main(["answer", question["id"], "visible"]) == 2
    result = CliRunner().invoke(hawse, ["answer", question["id"]], input="hunter2\n")
    assert result.exit_code == 0
    assert "hunter2" not in result.output
    assert printed(gateway, "q2", "7 characters") == "pattern"
    assert main(["kill", "-t", "q2", "--grace", "0"]) == 0


def test_choices_keys_and_takeovers(gateway: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    start_asking(
        gateway, "q3", "read -p 'Colour? ' x; echo is $x; read -n 1 -p 'Sure? ' y; echo; echo key $y; exec cat"
    )
    choice = ask(gateway, "q3", choices=["red", "blue"]).id
    assert main(["answer", choice, "green"]) == 1
    assert CliRunner().invoke(hawse, ["answer", choice], input="blue\n").exit_code == 0
    assert printed(gateway, "q3", "Sure") == "pattern"
    start_asking(gateway, "q3", "")
    assert main(["answer", ask(gateway, "q3").id, "--key", "y"]) == 0
    assert printed(gateway, "q3", "key y") == "pattern"
    assert main(["answer", ask(gateway, "q3", kind="takeover").id]) == 0
    assert main(["kill", "-t", "q3", "--grace", "0"]) == 0


def test_a_question_is_refused(gateway: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    start_asking(gateway, "q4", "exec cat")
    id = ask(gateway, "q4").id
    assert main(["refuse", id]) == 0
    assert open_questions(capsys, "q4") == []
    assert main(["refuse", id]) == 1
    assert main(["kill", "-t", "q4", "--grace", "0"]) == 0
