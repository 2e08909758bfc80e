import os
import secrets
import subprocess
import sys
import textwrap
from pathlib import Path

import pexpect
import pytest

from hawse.cli import main
from tests.support.stack import Stack


def completed(*words: str, **environment: str) -> list[str]:
    """The completions of the last of `words`, as a shell script gets them."""
    variables = {
        "_HAWSE_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": str(len(words) - 1),
    }
    run = subprocess.run(
        [sys.executable, "-m", "hawse.cli"],
        env=os.environ | variables | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert run.stderr == ""
    return [line.partition(",")[2] for line in run.stdout.splitlines() if line]


@pytest.fixture
def name() -> str:
    return f"c-{secrets.token_hex(4)}"


def test_sandboxes_are_completed(gateway: Stack, name: str) -> None:
    main(["sandbox", "create", name])
    try:
        for words in (["sandbox", "rm"], ["sandbox", "stop"], ["shell", "-s"], ["ls", "--sandbox"]):
            assert completed("hawse", *words, name[:6]) == [name]
    finally:
        main(["sandbox", "rm", "-y", name])


def test_terminals_processes_and_tokens_are_completed(
    gateway: Stack, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["share", "create", "main", "--name", name])
    main(["token", "create", "--name", name])
    capsys.readouterr()
    main(["token", "ls"])
    (token,) = [line.split()[0] for line in capsys.readouterr().out.splitlines() if name in line]
    assert completed("hawse", "token", "revoke", token) == [token]
    assert completed("hawse", "token", "revoke", "--token", "wrong", token) == []


def test_without_a_gateway_nothing_is_offered_and_nothing_is_printed() -> None:
    assert completed("hawse", "attach", "x", HAWSE_URL="http://127.0.0.1:9", HAWSE_TOKEN="x" * 20) == []


def test_bash_completes_an_id_at_a_terminal(gateway: Stack, name: str, tmp_path: Path) -> None:
    command = tmp_path / "hawse"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hawse.cli "$@"\n')
    command.chmod(0o755)
    rc = tmp_path / "rc"
    rc.write_text(
        textwrap.dedent(f"""
            PATH={tmp_path}:$PATH PS1='ready> '
            eval "$(hawse completion bash)"
        """)
    )
    main(["sandbox", "create", name])
    bash = pexpect.spawn("bash", ["--noprofile", "--rcfile", str(rc), "-i"], timeout=60, encoding="utf-8")
    try:
        bash.expect_exact("ready> ")
        bash.send(f"hawse sandbox stop {name[:6]}\t")
        bash.expect_exact(f"hawse sandbox stop {name} ")
    finally:
        bash.close(force=True)
        main(["sandbox", "rm", "-y", name])
