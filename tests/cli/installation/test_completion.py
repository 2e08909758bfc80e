import os
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from hawse.cli import main

HAWSE = Path(sys.executable).with_name("hawse")
# What each shell starts with, and how it loads the script from where docs/command-line.md says.
SHELLS = {
    "bash": (["--norc", "-i"], "hawse.bash", ". ~/hawse.bash"),
    "zsh": (["-f", "-i"], "_hawse", "fpath=(~ $fpath); autoload -Uz compinit; compinit -u -d ~/dump"),
}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"PATH": f"{HAWSE.parent}:{os.environ['PATH']}", "HOME": str(tmp_path), "TERM": "xterm", "PS1": "$ "}


def script(shell: str) -> str:
    return subprocess.run([HAWSE, "completion", shell], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("shell", SHELLS)
def test_the_tab_key_completes_commands_in(shell: str, environment: dict[str, str], tmp_path: Path) -> None:
    arguments, name, load = SHELLS[shell]
    (tmp_path / name).write_text(script(shell))
    terminal = pexpect.spawn(shell, arguments, env=environment, encoding="utf-8", timeout=60)
    try:
        terminal.sendline(f"{load}; echo rea''dy")
        terminal.expect("ready\r\n")
        terminal.send("hawse sandb\t")
        terminal.expect("sandbox")
    finally:
        terminal.close(force=True)


def test_fish_completes_commands_and_shows_what_they_do(environment: dict[str, str], tmp_path: Path) -> None:
    completions = tmp_path / ".config" / "fish" / "completions"
    completions.mkdir(parents=True)
    (completions / "hawse.fish").write_text(script("fish"))
    asked = subprocess.run(
        ["fish", "-c", "complete -C 'hawse sandbox create --netw'"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert asked.stdout.startswith("--network\t")


def test_words_are_completed() -> None:
    environment = os.environ | {"_HAWSE_COMPLETE": "bash_complete", "COMP_WORDS": "hawse ter", "COMP_CWORD": "1"}
    run = subprocess.run([HAWSE], env=environment, capture_output=True, text=True, check=False)
    assert run.stdout == "plain,terminals\n"


def test_an_unknown_shell_is_refused() -> None:
    assert main(["completion", "tcsh"]) == 2
