import json
import secrets
import subprocess
import sys

import pexpect
import pytest

from hawse.cli import main
from tests.support.stack import Stack


@pytest.fixture
def label() -> str:
    """A label that only the sandboxes of one test have."""
    return f"test={secrets.token_hex(4)}"


def created(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["sandbox", "create", *arguments]) == 0
    return capsys.readouterr().out.strip()


def ids(capsys: pytest.CaptureFixture[str], label: str) -> list[str]:
    main(["sandbox", "ls", "--json", "-l", label])
    return [each["id"] for each in json.loads(capsys.readouterr().out)]


def test_a_sandbox_is_created_used_stopped_started_and_deleted(
    gateway: Stack, label: str, capfd: pytest.CaptureFixture[str]
) -> None:
    name = created(capfd, "-l", label, "-e", "GREETING=hello", "--keep-alive")
    assert main(["exec", "-s", name, "-c", "echo $GREETING; echo kept > file"]) == 0
    assert capfd.readouterr().out == "hello\n"
    main(["sandbox", "ls", "-l", label])
    assert capfd.readouterr().out.splitlines()[1].split()[:2] == [name, "running"]
    assert main(["sandbox", "stop", name]) == 0
    assert main(["exec", "-s", name, "true"]) == 255
    capfd.readouterr()
    assert main(["sandbox", "start", name]) == 0
    main(["cat", "-s", name, "file"])
    assert capfd.readouterr().out == "kept\n"
    capfd.readouterr()
    assert main(["sandbox", "rm", "--yes", "--json", name]) == 0
    assert capfd.readouterr().out == "", "there is no state left to print"
    assert ids(capfd, label) == []


def test_one_sandbox_that_is_missing_does_not_keep_the_others_from_being_stopped_started_and_deleted(
    gateway: Stack, label: str, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = (created(capsys, "-l", label) for _ in range(2))
    for action, states in (("stop", ["stopped"] * 2), ("start", ["running"] * 2)):
        assert main(["sandbox", action, "--json", one, "missing", other]) == 1
        printed = capsys.readouterr()
        assert [each["state"] for each in json.loads(printed.out)] == states
        assert printed.err.startswith("Error: missing: not_found: unknown sandbox 'missing'")
    assert main(["sandbox", "rm", "--yes", one, "missing", other, "absent"]) == 1
    assert [line.split(": ")[1] for line in capsys.readouterr().err.splitlines()] == ["missing", "absent"]
    assert ids(capsys, label) == []


def test_the_templates_are_listed(gateway: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sandbox", "templates"]) == 0
    heading, other, row = capsys.readouterr().out.splitlines()
    assert (heading.split()[0], other.split()[0]) == ("NAME", "files")
    assert " ".join(row.split()) == "small 64.0 MiB a small one"
    main(["sandbox", "templates", "--json"])
    _, found = json.loads(capsys.readouterr().out)
    assert (found["name"], found["limits"]["memory"]) == ("small", 64 << 20)


def test_a_sandbox_has_the_files_of_its_template_once(
    gateway: Stack, label: str, capfd: pytest.CaptureFixture[str]
) -> None:
    name = created(capfd, "-l", label, "--template", "files")
    assert main(["exec", "-s", name, "-c", "cat src/hello; echo changed > src/hello"]) == 0
    assert capfd.readouterr().out == "hello\n"
    main(["sandbox", "stop", name])
    main(["sandbox", "start", name])
    capfd.readouterr()
    assert main(["cat", "-s", name, "src/hello"]) == 0
    assert capfd.readouterr().out == "changed\n"
    main(["sandbox", "rm", "--yes", name])


def test_the_same_id_is_the_same_sandbox(gateway: Stack, label: str, capsys: pytest.CaptureFixture[str]) -> None:
    name = f"mine-{secrets.token_hex(3)}"
    assert created(capsys, name, "-l", label) == name
    assert created(capsys, name, "-l", label) == name
    assert ids(capsys, label) == [name]
    assert main(["sandbox", "create", name]) == 1
    assert "conflict" in capsys.readouterr().err
    main(["sandbox", "rm", "-f", name])


def test_deleting_asks_first(gateway: Stack, label: str, capsys: pytest.CaptureFixture[str]) -> None:
    name = created(capsys, "-l", label)
    for answer, code, left in (("n", 130, [name]), ("y", 0, [])):
        asking = pexpect.spawn(sys.executable, ["-m", "hawse.cli", "sandbox", "rm", name], timeout=60)
        asking.expect_exact(f"Delete {name} with all files?")
        asking.sendline(answer)
        asking.expect(pexpect.EOF)
        assert asking.wait() == code
        assert ids(capsys, label) == left


def test_changes_are_printed_as_they_happen(gateway: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    argv = [sys.executable, "-m", "hawse.cli", "sandbox", "watch", "--json"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as watching:
        assert watching.stdout is not None
        watching.stdout.readline()  # of the sandbox `local`: the watch has begun
        name = created(capsys)
        main(["sandbox", "rm", "-f", name])
        changes = []
        for line in watching.stdout:
            change = json.loads(line)
            if change["id"] == name:
                changes.append(change["sandbox"])
                if change["sandbox"] is None:
                    break
        watching.terminate()
    assert "running" in [change["state"] for change in changes if change]


@pytest.mark.parametrize("arguments", [["-e", "A"], ["--memory", "x"], ["--memory", "1q"], ["--network", "lan"]])
def test_values_that_cannot_be_used_are_refused(arguments: list[str]) -> None:
    assert main(["sandbox", "create", *arguments]) == 2


def test_what_does_not_exist_is_reported(gateway: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sandbox", "stop", "missing"]) == 1
    assert "not_found" in capsys.readouterr().err


def test_deleting_without_a_terminal_to_ask_at_is_refused(gateway: Stack) -> None:
    argv = [sys.executable, "-m", "hawse.cli", "sandbox", "rm", "kept"]
    done = subprocess.run(argv, input="y\n", capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert "--yes" in done.stderr
