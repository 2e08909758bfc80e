import json
import os
import sys

import click
import pexpect
import pytest

from hawse.cli.output import ProgressLine, duration, encoded, examples, print_json, print_table, printable, size


def test_examples_keep_their_lines_in_the_help() -> None:
    command = click.Command("probe", epilog=examples("probe one", "probe two"))
    assert command.get_help(click.Context(command)).endswith("\n  Examples:\n    probe one\n    probe two")


def test_a_table_in_a_pipe_has_aligned_columns(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["ID", "STATE"], [["a", "running"], ["longer", None]])
    assert capsys.readouterr().out == "ID      STATE\na       running\nlonger\n"


PROGRESS = """
from hawse.cli.output import ProgressLine
for hidden in (True, False):
    with ProgressLine(hidden=hidden) as line:
        line.show(f"1 of 2, {hidden}")
        line.show(f"2 of 2, {hidden}")
"""


def test_progress_is_one_line_of_a_terminal_and_is_erased_at_the_end() -> None:
    terminal = pexpect.spawn(sys.executable, ["-c", PROGRESS], encoding="utf-8", timeout=60)
    terminal.expect(pexpect.EOF)
    assert terminal.before == "\r1 of 2, False\x1b[K\r2 of 2, False\x1b[K\r\x1b[K"
    terminal.close()


def test_progress_is_not_written_to_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressLine(hidden=False) as line:
        line.show("1 of 2")
    assert capsys.readouterr().err == ""


def test_no_cell_is_cut_on_a_narrow_terminal() -> None:
    address = "http://t-c3jonrmrnkv5epk3.localhost:8731/"
    call = f"print_table(['ID', 'STATE', 'ADDRESS'], [['a' * 30, 'running', {address!r}]])"
    code = f"from hawse.cli.output import print_table; {call}"
    terminal = pexpect.spawn(sys.executable, ["-c", code], encoding="utf-8", dimensions=(24, 40), timeout=60)
    terminal.expect(pexpect.EOF)
    assert f"{'a' * 30}  running  {address}" in (terminal.before or "")
    terminal.close()


def test_a_long_last_cell_does_not_widen_the_other_rows(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["ID", "COMMAND"], [["a", "sh"], ["b", "x" * 10_000]])
    assert capsys.readouterr().out == f"ID  COMMAND\na   sh\nb   {'x' * 10_000}\n"


def test_control_characters_of_names_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["ID"], [["a\x1b[2Jb\nc"]])
    assert capsys.readouterr().out == "ID\na\\x1b[2Jb\\nc\n"


def test_printable_keeps_text_of_all_languages() -> None:
    assert printable("grün 終 ✓") == "grün 終 ✓"


def test_json_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"a": [1, "ü\n"]})
    shown = capsys.readouterr().out
    assert json.loads(shown) == {"a": [1, "ü\n"]}
    assert shown.count("\n") == 1


def test_json_escapes_a_name_that_is_not_utf8(capsys: pytest.CaptureFixture[str]) -> None:
    name = os.fsdecode(b"bad\xffname")
    print_json([{"name": name, "data": b"a"}])
    assert json.loads(capsys.readouterr().out) == [{"name": name, "data": "YQ=="}]


def test_output_is_text_or_base64_if_a_stream_is_not_utf8() -> None:
    assert encoded({"stdout": "ü".encode(), "stderr": b""}) == {"stdout": "ü", "stderr": "", "encoding": "utf-8"}
    assert encoded({"stdout": b"a", "stderr": b"\xff"}) == {"stdout": "YQ==", "stderr": "/w==", "encoding": "base64"}


def test_output_that_was_cut_within_a_character_is_text_without_it() -> None:
    assert encoded({"stdout": "aü".encode()[:-1]}, truncated=True) == {"stdout": "a", "encoding": "utf-8"}
    assert encoded({"stdout": "aü".encode()[:-1]})["encoding"] == "base64"


@pytest.mark.parametrize(
    ("count", "text"),
    [(None, ""), (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (200 << 20, "200 MiB")],
)
def test_sizes_have_a_binary_unit(count: int | None, text: str) -> None:
    assert size(count) == text


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0s"), (59, "59s"), (192, "3m12s"), (7260, "2h01m")])
def test_durations_have_two_units(seconds: float, text: str) -> None:
    assert duration(seconds) == text
