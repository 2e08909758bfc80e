"""`hawse code`: a file, a pipe, a context that is kept, and code that is entered on a terminal."""

import json
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from hawse.cli.commands.code import describe, traceback
from hawse.client import CodeError, RichResult
from tests.support.stack import Stack

HAWSE = [sys.executable, "-m", "hawse.cli", "code"]


def run(*arguments: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([*HAWSE, *arguments], input=stdin, capture_output=True, text=True, check=False, timeout=120)


def test_a_file_is_run_and_its_results_and_errors_are_printed(gateway: Stack, tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("import sys\nprint('out')\nprint('err', file=sys.stderr)\ndisplay('shown')\n6 * 7")
    done = run(file)
    assert (done.stdout, done.stderr, done.returncode) == ("out\n'shown'\n42\n", "err\n", 0)
    file.write_text("1 / 0")
    failed = run(file)
    assert (failed.stdout, failed.returncode) == ("", 1)
    assert "ZeroDivisionError: division by zero" in failed.stderr


def test_a_context_is_kept_and_found_again_by_its_id(gateway: Stack) -> None:
    assert run("--context", "kept", stdin="x = 5").returncode == 0
    done = run("--context", "kept", "--json", "-", stdin="x + 1")
    found = json.loads(done.stdout)
    assert (found["status"], found["results"][0]["data"]["text/plain"]) == ("ok", "6")
    crashed = run("--context", "kept", stdin="import os; os._exit(3)")
    assert (crashed.returncode, "crashed: exit code 3" in crashed.stderr) == (255, True)
    refused = run("--context", "kept", stdin="x")
    assert (refused.returncode, "code.restart" in refused.stderr) == (255, True)


def test_code_is_given_as_an_option_as_for_python(gateway: Stack, tmp_path: Path) -> None:
    done = run("-c", "print('out')\n6 * 7", stdin="this is not read")
    assert (done.stdout, done.stderr, done.returncode) == ("out\n42\n", "", 0)
    (tmp_path / "a.py").touch()
    both = run("-c", "1", tmp_path / "a.py")
    assert (both.returncode, "cannot be combined" in both.stderr) == (2, True)


def test_json_has_the_output_as_text(gateway: Stack) -> None:
    text = json.loads(run("--json", "-c", "print('grün')").stdout)
    assert (text["stdout"], text["encoding"]) == ("grün\n", "utf-8")


def test_standard_input_that_is_closed_is_empty(gateway: Stack) -> None:
    hawse = f"{sys.executable} -m hawse.cli"
    line = f"{hawse} code - <&-; {hawse} exec -i cat <&-; {hawse} top --once >&-; {hawse} code -c '6 * 7' <&-"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, timeout=120)
    assert (done.stdout, done.returncode, done.stderr) == ("42\n", 0, "")


def test_the_time_limit_and_an_unknown_language_have_exit_codes(gateway: Stack) -> None:
    assert run("--timeout", "0.3", stdin="while True: pass").returncode == 124
    unavailable = run("-l", "cobol", stdin="x")
    assert (unavailable.returncode, "language_unavailable" in unavailable.stderr) == (255, True)


def test_code_is_entered_on_a_terminal_line_by_line(gateway: Stack) -> None:
    repl = pexpect.spawn(HAWSE[0], HAWSE[1:], encoding="utf-8", timeout=60)
    repl.expect(">>> ")
    repl.sendline("def f(x):")
    repl.expect(r"\.\.\. ")
    repl.sendline("    return x * 7")
    repl.expect(r"\.\.\. ")
    repl.sendline("")
    repl.expect(">>> ")
    repl.sendline("f(6) + int(input('more? '))")
    repl.expect(r"more\? ")
    repl.sendline("100")
    repl.expect("142")
    repl.expect(">>> ")
    repl.sendline("import time; print('be' + 'gun', flush=True); time.sleep(600)")
    repl.expect("begun")
    repl.sendintr()
    repl.expect("KeyboardInterrupt")
    repl.expect(">>> ")
    repl.sendline("import os; os._exit(1)")
    repl.expect("restarted")
    repl.expect(">>> ")
    repl.sendeof()
    repl.expect(pexpect.EOF)
    repl.close()
    assert repl.exitstatus == 0


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ({"text/plain": "<Figure>", "image/png": "AAAA"}, "<Figure> [image/png, 3 B]"),
        ({"text/markdown": "# x"}, "# x"),
        ({"application/json": {}}, "[application/json]"),
    ],
)
def test_a_result_is_described_by_its_text_and_its_images(data: dict[str, object], shown: str) -> None:
    assert describe(RichResult("value", data)) == shown


def test_an_error_without_a_traceback_is_its_name_and_message() -> None:
    assert traceback(CodeError(name="E", value="v")) == "E: v"
    assert traceback(CodeError(name="E", value="v", traceback=["a", "b"])) == "a\nb"
