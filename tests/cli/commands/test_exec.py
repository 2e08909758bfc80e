import json
import os
import signal
import subprocess
import sys

import pytest

from hawse.cli import main
from tests.support.stack import Stack

HAWSE = [sys.executable, "-m", "hawse.cli"]


def run(*arguments: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run `hawse exec` as a person does."""
    return subprocess.run([*HAWSE, "exec", *arguments], input=stdin, capture_output=True, check=False, timeout=60)


def test_the_output_stays_separate_and_the_exit_code_is_that_of_the_command(gateway: Stack) -> None:
    done = run("--", "sh", "-c", "echo out; echo err >&2; exit 5")
    assert (done.stdout, done.stderr, done.returncode) == (b"out\n", b"err\n", 5)


def test_arguments_reach_the_command_as_they_are(gateway: Stack) -> None:
    assert run("printf", "%s|", "a b", "-x", "--json", "$HOME").stdout == b"a b|-x|--json|$HOME|"


def test_one_text_is_run_by_the_shell(gateway: Stack) -> None:
    assert run("-c", "echo a | tr a b").stdout == b"b\n"


def test_standard_input_is_passed_on_and_ends(gateway: Stack) -> None:
    data = bytes(range(256)) * 4096
    done = run("-i", "sha256sum", stdin=data)
    expected = subprocess.run(["sha256sum"], input=data, capture_output=True, check=True).stdout
    assert done.stdout == expected


def test_a_pipe_is_passed_on_without_an_option(gateway: Stack) -> None:
    assert run("tr", "a", "b", stdin=b"aaa").stdout == b"bbb"


def test_standard_input_that_never_ends_does_not_hold_the_command(gateway: Stack) -> None:
    read, write = os.pipe()
    try:
        for options in ([], ["--json"]):
            done = subprocess.run([*HAWSE, "exec", *options, "true"], stdin=read, check=False, timeout=60)
            assert done.returncode == 0
    finally:
        os.close(read)
        os.close(write)


def test_a_terminal_is_not_read_without_the_option(gateway: Stack) -> None:
    master, slave = os.openpty()
    try:
        done = subprocess.run([*HAWSE, "exec", "cat"], stdin=slave, capture_output=True, check=False, timeout=60)
        assert (done.stdout, done.returncode) == (b"", 0)
    finally:
        os.close(master)
        os.close(slave)


def test_a_closed_standard_input_is_an_empty_one(gateway: Stack) -> None:
    done = subprocess.run(["sh", "-c", f"{' '.join(HAWSE)} exec cat <&-"], capture_output=True, check=False, timeout=60)
    assert (done.stdout, done.stderr, done.returncode) == (b"", b"", 0)


def test_with_no_stdin_the_input_of_a_loop_stays_unread(gateway: Stack) -> None:
    done = subprocess.run(
        ["sh", "-c", f"{' '.join(HAWSE)} exec -n true; cat"], input=b"kept", capture_output=True, check=True
    )
    assert done.stdout == b"kept"


def test_a_command_that_ends_before_its_input_is_no_error(gateway: Stack) -> None:
    assert run("-i", "true", stdin=b"x" * 3_000_000).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["-c", "kill -9 $$"], 137), (["--timeout", "0.2", "sleep", "60"], 124), (["no-such-program"], 255)],
)
def test_other_ends_have_the_codes_of_a_shell(gateway: Stack, arguments: list[str], code: int) -> None:
    assert run(*arguments).returncode == code


def test_variables_and_the_directory_are_set(gateway: Stack) -> None:
    assert run("-e", "A=1=2", "-w", "/tmp", "-c", 'echo "$A $PWD"').stdout == b"1=2 /tmp\n"


def test_unattended_programs_get_variables_that_prevent_questions(gateway: Stack) -> None:
    done = run("--unattended", "-e", "CI=no", "-c", "echo $DEBIAN_FRONTEND $PAGER $CI")
    assert done.stdout == b"noninteractive cat no\n"


@pytest.mark.parametrize("arguments", [["-e", "A", "true"], ["-c", "a", "b"], ["-t", "--json", "true"], []])
def test_options_that_cannot_be_used_are_refused(gateway: Stack, arguments: list[str]) -> None:
    assert main(["exec", *arguments]) == 2


def test_json_has_the_output_and_the_end(gateway: Stack) -> None:
    done = run("--json", "-i", "-c", "cat; exit 3", stdin=b"in")
    assert json.loads(done.stdout) == {
        "code": 3,
        "signal": None,
        "timed_out": False,
        "stdout": "in",
        "stderr": "",
        "encoding": "utf-8",
        "truncated": False,
    }
    assert done.returncode == 3


def test_a_closed_pipe_ends_the_command_in_the_sandbox_quietly(gateway: Stack) -> None:
    line = f"{sys.executable} -m hawse.cli exec -n yes | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, check=False, timeout=60)
    assert (done.stdout, done.stderr, done.returncode) == (b"y\n", b"", 141)


@pytest.mark.parametrize(
    ("redirection", "message"),
    [
        (">/dev/full", "[Errno 28] No space left on device"),
        (">&-", "[Errno 9] standard output or standard error is closed"),
    ],
)
def test_output_that_cannot_be_written_is_an_error(gateway: Stack, redirection: str, message: str) -> None:
    line = f"{sys.executable} -m hawse.cli exec -n echo hi {redirection}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, timeout=60)
    assert (done.stderr, done.returncode) == (f"Error: {message}\n", 1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_ends_the_command_in_the_sandbox_and_then_this_process(gateway: Stack, number: signal.Signals) -> None:
    with subprocess.Popen([*HAWSE, "exec", "-c", "echo $$; exec sleep 1000"], stdout=subprocess.PIPE) as command:
        assert command.stdout is not None
        pid = int(command.stdout.readline())
        command.send_signal(number)
        assert command.wait(30) == -number
    # The sandbox of the tests is not isolated, so its processes have the same numbers here.
    assert run("-c", f"while kill -0 {pid} 2>/dev/null; do :; done").returncode == 0


def test_a_refused_token_is_explained(gateway: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exec", "--token", "wrong", "true"]) == 255
    assert "hawse login" in capsys.readouterr().err


def test_a_line_in_one_word_has_a_hint(gateway: Stack) -> None:
    done = run("echo hi | cat")
    assert done.returncode == 255
    assert b"hawse exec -c 'echo hi | cat'" in done.stderr
    assert b"exec -c" not in run("no-such-program").stderr
    assert b"exec -c" not in run("no such", "argument").stderr
