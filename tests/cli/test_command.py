import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import click
import pytest

from hawse.build import BUILD
from hawse.cli import main
from hawse.cli.command import COMMANDS, hawse

ROOT = Path(__file__).resolve().parents[2]


def leaves(command: click.Command, context: click.Context) -> Iterator[tuple[list[str], click.Command, click.Context]]:
    """All commands that are no groups: their names, and a context for each."""
    if not isinstance(command, click.Group):
        yield context.command_path.split()[1:], command, context
        return
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        assert below is not None
        yield from leaves(below, click.Context(below, info_name=name, parent=context))


def all_leaves() -> Iterator[tuple[list[str], click.Command, click.Context]]:
    return leaves(hawse, click.Context(hawse, info_name="hawse"))


def test_the_version_is_that_of_the_distribution(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"hawse {version('hawse')} ({BUILD})\n"


@pytest.mark.parametrize("argv", [[], ["nope"], ["serve", "--nope"]])
def test_invalid_arguments_are_reported_with_exit_code_2(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 2
    assert "Usage: hawse" in capsys.readouterr().err


def test_an_option_before_the_command_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--url", "http://127.0.0.1:8080", "exec", "true"]) == 2
    assert "Options come after the command, such as `hawse exec --url URL`." in capsys.readouterr().err
    assert main(["serve", "--nope"]) == 2
    assert "after the command" not in capsys.readouterr().err


def test_the_command_runs_as_a_module() -> None:
    run = subprocess.run([sys.executable, "-m", "hawse.cli", "--version"], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("hawse ")


def test_the_gateway_is_not_imported_before_it_is_needed() -> None:
    program = """if True:
        import sys, hawse.cli
        late = ("hawse_gateway", "uvicorn", "websockets", "rich")
        print([name for name in sys.modules if name.partition(".")[0] in late])
    """
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_the_garbage_collector_is_off_only_until_the_modules_are_loaded() -> None:
    program = """if True:
        import gc, hawse.cli
        import hawse.cli.commands.shell
        at_load = gc.get_freeze_count()
        assert hawse.cli.main(["man"]) == 0
        assert gc.isenabled() and gc.get_freeze_count() > at_load
        assert hawse.cli.main(["--version"]) == 0 and gc.isenabled()
    """
    subprocess.run([sys.executable, "-c", program], stdout=subprocess.DEVNULL, check=True)


def test_a_terminal_opens_without_loading_what_it_does_not_use() -> None:
    """`hawse shell` has 150 ms: what files, code, git and lists need is loaded when it is used."""
    unused = (
        "rich gateway hawse.client.code hawse.client.git hawse.client.files.files hawse.client.images hawse.api.git "
        "hawse.api.sandboxes hawse.api.runtime hawse.api.processes hawse.api.recordings hawse.api.documentation "
        "hawse.cli.local_terminal.predictive_echo hawse.cli.local_terminal.emulator_replies"
    )
    program = f"""if True:
        import sys, hawse.cli.commands.shell, hawse.client.terminal.terminals
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


def test_each_example_of_the_help_can_be_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "analysis.py").write_text("")
    monkeypatch.chdir(tmp_path)
    count = 0
    for names, command, context in all_leaves():
        lines = re.findall(r"^  (.*)", (command.epilog or "").partition("Examples:")[2], re.M)
        for line in lines:
            words = shlex.split(line)
            words = words[words.index("hawse") + 1 :]
            for operator in ("|", ">"):
                words = words[: words.index(operator)] if operator in words else words
            assert words[: len(names)] == names, line
            command.make_context(names[-1], words[len(names) :], parent=context.parent).close()
            count += 1
    assert count > 30


def documented() -> Iterator[tuple[str, str]]:
    """The commands in the documentation, in blocks and within the text, with the names of their pages."""
    for page in (ROOT / "README.md", ROOT / "SECURITY.md", *(ROOT / "docs").rglob("*.md")):
        text = "" if page.parent.name == "decisions" else page.read_text("utf-8")
        for block in re.findall(r"^```(?:console|sh)\n(.*?)^```", text, re.S | re.M):
            for line in block.replace("\\\n", " ").splitlines():
                command = re.sub(r"'[^']*'", "'…'", line.removeprefix("$ ").partition(" # ")[0])
                for part in re.split(r" [|;>] |&&", command):
                    if part.startswith("hawse ") and "$" not in part:
                        yield page.name, part
        for found in re.findall(r"`(hawse [^`]*)`", re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M)):
            yield page.name, re.split(r" [|;>] ", found)[0]


def test_each_command_of_the_documentation_exists_with_its_options() -> None:
    contexts = {tuple(names): (command, context) for names, command, context in all_leaves()}
    groups = {names[0] for names in contexts if len(names) > 1}
    wrong, count = [], 0
    for page, line in documented():
        words = shlex.split(re.sub(r"\[[^]]*\]|…", "", line))[1:]
        length = next((n for n in (1, 2) if tuple(words[:n]) in contexts), 0)
        if not length:
            if words[:1] not in ([], ["COMMAND"]) and words[0] not in {*groups, "--version", "--help"}:
                wrong.append(f"{page}: {line}: there is no such command")
            continue
        command, context = contexts[tuple(words[:length])]
        count += 1
        try:
            command.make_context(words[length - 1], words[length:], parent=context.parent).close()
        except (click.MissingParameter, click.BadParameter, click.BadOptionUsage):  # `hawse cp`, `hawse serve --pool N`
            continue
        except click.exceptions.Exit:  # --help
            continue
        except click.UsageError as error:
            wrong.append(f"{page}: {line}: {error.format_message()}")
    assert not wrong, "\n".join(wrong)
    assert count > 100


def test_each_command_is_in_the_documentation() -> None:
    text = (ROOT / "docs" / "command-line.md").read_text("utf-8")
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `hawse ")]
    for names, _, _ in all_leaves():
        found = [row for row in rows if f"`hawse {names[0]}" in row or f"`{names[0]}" in row]
        assert any(re.search(rf"\b{names[-1]}\b", row) for row in found), " ".join(names)


@pytest.mark.parametrize(
    "argv",
    [
        ["sandbox", "create"],
        ["sandbox", "rm", "--yes", "x"],
        ["sandbox", "watch"],
        ["token", "create"],
        ["share", "ls"],
        ["audit"],
        ["image", "ls"],
        ["backup", "usage"],
    ],
    ids=" ".join,
)
def test_a_command_that_is_not_for_one_sandbox_refuses_one(
    argv: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would ignore it: `hawse token create -s build` would make a token for all sandboxes."""
    assert main([*argv, "--sandbox", "build"]) == 2
    assert "No such option" in capsys.readouterr().err


def test_the_help_lists_each_sub_command_without_importing_it() -> None:
    program = (
        "import sys; from hawse.cli import main; main(['--help']); print('hawse.cli.commands.serve' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.endswith("False\n")
    assert all(f"  {name} " in run.stdout for name in COMMANDS)


def test_a_closed_pipe_ends_the_command_quietly() -> None:
    command = f"{sys.executable} -m hawse.cli --help | true"
    run = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert run.stderr == ""


def test_each_help_has_an_example() -> None:
    without = [path for path, command, _ in all_leaves() if f"hawse {' '.join(path)}" not in (command.epilog or "")]
    assert without == []
