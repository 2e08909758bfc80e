import subprocess
import sys
from importlib.metadata import version

import pytest

from hawse.cli import main


def test_the_version_is_that_of_the_distribution(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"hawse {version('hawse')}\n"


@pytest.mark.parametrize("argv", [[], ["nope"], ["serve", "--nope"]])
def test_invalid_arguments_are_reported_with_exit_code_2(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(argv)
    assert caught.value.code == 2
    assert "usage: hawse" in capsys.readouterr().err


def test_the_command_runs_as_a_module() -> None:
    run = subprocess.run([sys.executable, "-m", "hawse.cli", "--version"], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("hawse ")


def test_the_gateway_is_not_imported_before_it_is_needed() -> None:
    program = "import sys, hawse.cli; print([m for m in sys.modules if m.partition('.')[0] in ('gateway', 'uvicorn')])"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
