import os
import subprocess
import sys
from pathlib import Path

import pytest

from hawse.cli import main


@pytest.mark.parametrize(("shell", "part"), [("bash", "complete -o"), ("zsh", "#compdef hawse"), ("fish", "complete")])
def test_each_shell_has_its_script(shell: str, part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert part in capsys.readouterr().out


def test_words_are_completed() -> None:
    hawse = Path(sys.executable).with_name("hawse")
    environment = os.environ | {"_HAWSE_COMPLETE": "bash_complete", "COMP_WORDS": "hawse ter", "COMP_CWORD": "1"}
    run = subprocess.run([hawse], env=environment, capture_output=True, text=True, check=False)
    assert run.stdout == "plain,terminals\n"


def test_an_unknown_shell_is_refused() -> None:
    assert main(["completion", "tcsh"]) == 2
