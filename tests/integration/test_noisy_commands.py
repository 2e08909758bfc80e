"""The promises of `bench.tokens` about the text that agents get: it is short, and no error is missing."""

import pytest

from bench import tokens

OUTPUTS = tokens.outputs()


def test_ten_commands_are_measured() -> None:
    names = {"pip", "npm", "cargo", "apt", "pytest", "docker build", "wget", "git clone", "rsync", "spinner"}
    assert OUTPUTS.keys() == names


@pytest.mark.parametrize("name", OUTPUTS)
def test_the_text_costs_few_tokens_and_contains_every_error(name: str) -> None:
    found = tokens.measure(OUTPUTS[name])
    assert found.problems
    assert found.lost == []
    assert found.share <= tokens.GOAL


def test_the_check_notices_a_lost_error() -> None:
    output = b"error: first\r\n" + b"progress\r\n" * 10
    assert tokens.measure(output).lost == []
    assert tokens.problems(b"\x1b[31merror\x1b[0m: 12 of 30\rWarning\x1b[Kx\r\nfine") == ["error: # of #", "Warning"]


def test_the_result_of_a_command_is_kept() -> None:
    expected = {
        "pip": "ERROR: No matching distribution found for numpy==99.1",
        "npm": "added 221 packages in 28s",
        "cargo": 'error: could not compile `app` (bin "app") due to 1 previous error',
        "pytest": "= 2 failed, 189 passed, 1 warning in ",
        "git clone": "Resolving deltas: 100% (25672/25672), done.",
        "rsync": "(xfr#300, to-chk=0/301)",
        "wget": "ERROR 404: Not Found.",
        "docker build": "warning: libssl1.1 is deprecated",
        "spinner": "✔ Downloading models\nChecking ok\n",
    }
    for name, text in expected.items():
        assert text in tokens.plain(OUTPUTS[name])
