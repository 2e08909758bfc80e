import subprocess
import sys
from importlib.metadata import version

import pytest

from hawse.build import BUILD
from hawse.cli import main
from hawse.cli.command import COMMANDS, hawse


def test_the_version_is_that_of_the_distribution(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"hawse {version('hawse')} ({BUILD})\n"


@pytest.mark.parametrize("argv", [[], ["nope"], ["serve", "--nope"]])
def test_invalid_arguments_are_reported_with_exit_code_2(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 2
    assert "Usage: hawse" in capsys.readouterr().err


def test_the_command_runs_as_a_module() -> None:
    run = subprocess.run([sys.executable, "-m", "hawse.cli", "--version"], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("hawse ")


def test_the_gateway_is_not_imported_before_it_is_needed() -> None:
    program = """if True:
        import sys, hawse.cli
        print([name for name in sys.modules if name.partition(".")[0] in ("gateway", "uvicorn", "websockets", "rich")])
    """
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_a_terminal_opens_without_loading_what_it_does_not_use() -> None:
    """`hawse shell` has 150 ms: what files, code, git and lists need is loaded when it is used."""
    unused = (
        "rich gateway hawse.client.code hawse.client.git hawse.client.files.files hawse.client.images hawse.api.git "
        "hawse.api.sandboxes hawse.api.runtime hawse.api.processes hawse.api.recordings hawse.api.documentation "
        "hawse.cli.predictive_echo hawse.cli.emulator_replies"
    )
    program = f"""if True:
        import sys, hawse.cli.shell, hawse.client.terminal.terminals
        from hawse.client import Client, Options
        Client("http://127.0.0.1:1", options=Options())
        print([name for name in {unused.split()} if name in sys.modules])
    """
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_each_sub_command_can_be_loaded_and_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"Usage: hawse {name}")
    assert hawse.get_command(None, name) is not None  # type: ignore[arg-type]


def test_the_help_lists_each_sub_command_without_importing_it() -> None:
    program = "import sys; from hawse.cli import main; main(['--help']); print('hawse.cli.serve' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.endswith("False\n")
    assert all(f"  {name} " in run.stdout for name in COMMANDS)


def test_a_closed_pipe_ends_the_command_quietly() -> None:
    command = f"{sys.executable} -m hawse.cli --help | true"
    run = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert run.stderr == ""
