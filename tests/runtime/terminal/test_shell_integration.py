"""bash and zsh report their directory and commands, and keep the configuration of their user."""

import base64
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from hawse.wire.sealing import seal
from hawse_runtime.terminal.shell_integration import COMMANDS, SCRIPTS, add_commands, integrate
from tests.support.runtime import Channel, Client

SHELLS = ["bash", "zsh"]


async def start(client: Client, home: Path, shell: str, **env: str) -> Channel:
    argv = [shutil.which(shell) or shell]
    await client.ask(
        "terminal.create", id="t", argv=argv, cwd=str(home), env={"HOME": str(home), "HISTFILE": None, **env}
    )
    channel = client.attach("t", input="keys")
    await channel.event("opened")
    return channel


async def run(client: Client, line: str) -> Any:
    """Type a line; the command that it was, when it has ended."""
    sent = await client.ask("terminal.send", id="t", text=line, keys=["enter"])
    waited = await client.ask("terminal.wait", id="t", command=True, since=sent["offset"])
    assert waited["event"] == "command"
    return waited["command"]


def home_of(folder: Path, **files: str) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / f".{name}").write_text(text)
    return folder


@pytest.mark.parametrize("shell", SHELLS)
async def test_a_command_is_reported_with_line_code_directory_and_output(
    client: Client, tmp_path: Path, shell: str
) -> None:
    home = home_of(tmp_path / "ho me;ü", zshrc="")
    channel = await start(client, home, shell)
    command = await run(client, "echo 'a;b\\c'; (exit 7)")
    assert (command["line"], command["code"], command["cwd"]) == ("echo 'a;b\\c'; (exit 7)", 7, str(home))
    output = bytes(channel.output)[command["start"] : command["end"]]
    assert output.startswith(b"a;b")
    command = await run(client, "cd /tmp")
    assert (command["code"], (await client.ask("terminal.get", id="t"))["cwd"]) == (0, "/tmp")
    history = await client.ask("terminal.history", id="t")
    assert [c["number"] for c in history["commands"]] == [1, 2]
    assert history["reports_commands"]


@pytest.mark.parametrize("shell", SHELLS)
async def test_an_empty_line_and_ctrl_c_are_no_commands(client: Client, tmp_path: Path, shell: str) -> None:
    await start(client, home_of(tmp_path / "h", zshrc=""), shell)
    await run(client, "true")
    await client.ask("terminal.send", id="t", keys=["enter", "enter", "x", "ctrl+c"])
    assert (await run(client, "false"))["number"] == 2


async def test_bash_reads_its_users_files_and_keeps_its_hooks_and_status(client: Client, tmp_path: Path) -> None:
    rc = "PS1='mine> '; hook() { echo \"hook $?\"; }; PROMPT_COMMAND='hook;'; HISTCONTROL=ignoreboth; set -u"
    home = home_of(tmp_path / "h", bashrc=rc)
    channel = await start(client, home, "bash")
    await channel.seen(b"mine> ")
    await run(client, "(exit 3)")
    await channel.seen(b"hook 3\r\n")
    command = await run(client, "echo status $?")
    assert b"status 3\r\n" in bytes(channel.output)[command["start"] : command["end"]]
    assert (await run(client, " echo secret"))["line"] in (None, " echo secret")  # never the command before
    assert sorted(os.listdir(home)) == [".bashrc"]


async def test_bash_keeps_hooks_that_are_an_array(client: Client, tmp_path: Path) -> None:
    home = home_of(tmp_path / "h", bashrc="PROMPT_COMMAND=('echo one $?' 'echo two')")
    channel = await start(client, home, "bash")
    await channel.seen(b"two\r\n")
    assert (await run(client, "(exit 4)"))["code"] == 4
    await channel.seen(b"one 4\r\ntwo\r\n")


async def test_zsh_reads_its_users_files_where_the_user_has_them(client: Client, tmp_path: Path) -> None:
    home = home_of(tmp_path / "h")
    dots = home_of(tmp_path / "dots", zshenv="FROM_ENV=yes", zshrc="PS1='mine> '; precmd() { echo \"hook $?\" }")
    channel = await start(client, home, "zsh", ZDOTDIR=str(dots))
    await channel.seen(b"mine> ")
    await run(client, "(exit 3)")
    await channel.seen(b"hook 3\r\n")
    command = await run(client, "echo $FROM_ENV $ZDOTDIR ${HAWSE_ZDOTDIR-none}")
    assert b"yes %b none" % str(dots).encode() in bytes(channel.output)[command["start"] : command["end"]]
    assert os.listdir(home) == []


async def test_zsh_without_a_folder_of_its_own_has_none_afterwards(client: Client, tmp_path: Path) -> None:
    channel = await start(client, home_of(tmp_path / "h", zshrc="PS1='mine> '"), "zsh")
    command = await run(client, "echo ${ZDOTDIR-none} ${HAWSE_ZDOTDIR-none}")
    assert b"none none" in bytes(channel.output)[command["start"] : command["end"]]


def test_only_a_shell_without_arguments_is_integrated() -> None:
    env = {"PATH": "/bin"}
    for argv in (["bash", "-c", "x"], ["sh"], ["vim"], ["bash", "-l"], ["/opt/notbash"]):
        assert integrate(argv, env) == (argv, env, False)
    assert integrate(["/bin/bash"], env) == (["/bin/bash", "--rcfile", str(SCRIPTS / "hawse.bash")], env, True)


async def test_it_can_be_declined(client: Client) -> None:
    created = await client.ask("terminal.create", id="t", argv=["bash"], integration=False)
    assert created["argv"] == ["bash"]
    assert not (await client.ask("terminal.history", id="t"))["reports_commands"]


def test_commands_come_last_in_the_path() -> None:
    assert add_commands({"PATH": "/bin", "A": "b"}) == {"PATH": f"/bin:{COMMANDS}", "A": "b"}
    assert add_commands({"A": "b"}) == {"A": "b"}


# ---- hawse-ask

# Options, the kind, the parameters of `terminal.answer` (None refuses), and the printed exit code and answer.
ASKED = {
    "a line": ("", "line", {"text": "Anna's \\n $x"}, "0 <Anna's \\n $x>"),
    "an empty line": ("", "line", {"text": ""}, "0 <>"),
    "a choice": ("--choice red --choice 'dark blue'", "choice", {"text": "dark blue"}, "0 <dark blue>"),
    "a key": ("--key", "key", {"text": "y"}, "0 <y>"),
    "a refused line": ("", "line", None, "1 <>"),
    "a refused choice": ("--choice red", "choice", None, "1 <>"),
    "a refused key": ("--key", "key", None, "1 <>"),
    "a refused secret": ("--secret", "secret", None, "1 <>"),
}


async def question(client: Client, kind: str) -> Any:
    """Wait until `hawse-ask` has asked."""
    watch = client.call("terminal.questions")

    def opened() -> list[Any]:
        listed = watch.events[-1].value["questions"] if watch.events else []
        return [each for each in listed if (each["kind"], each["state"], each["source"]) == (kind, "open", "program")]

    await watch.until(opened)
    return opened()[0]


async def asking(client: Client, options: str) -> Channel:
    script = f'answer=$(hawse-ask \'Why; or "how"?\' {options}); echo "$? <$answer>"; exec cat'
    await client.ask("terminal.create", id="t", argv=["bash", "-c", script])
    channel = client.attach("t", input="keys")
    await channel.event("opened")
    return channel


@pytest.mark.parametrize(("options", "kind", "answer", "printed"), ASKED.values(), ids=ASKED)
async def test_hawse_ask_prints_the_answer(
    client: Client, options: str, kind: str, answer: dict[str, str] | None, printed: str
) -> None:
    shell = await asking(client, options)
    asked = await question(client, kind)
    assert asked["reason"] == 'Why; or "how"?'
    if answer is None:
        await client.ask("terminal.refuse", id="t", question=asked["id"])
    else:
        await client.ask("terminal.answer", {"id": "t", "question": asked["id"], **answer})
    await shell.seen(printed.encode())


async def test_hawse_ask_prints_a_secret_to_its_caller_only(client: Client) -> None:
    shell = await asking(client, "--secret")
    asked = await question(client, "secret")
    closed = base64.b64encode(seal(b"hunter2", base64.b64decode(asked["seal"]), asked["id"])).decode()
    await client.ask("terminal.answer", id="t", question=asked["id"], sealed=closed)
    await shell.seen(b"0 <hunter2>")  # printed by the script
    assert shell.output.count(b"hunter2") == 1


@pytest.mark.parametrize("options", ["--expires 0.1", "--expires 0.1 --key", "--expires 0.1 --secret"])
async def test_hawse_ask_ends_when_its_question_expires(client: Client, options: str) -> None:
    shell = await asking(client, options)
    await shell.seen(b"3 <>")


async def test_hawse_ask_asks_again_after_an_answer_that_is_no_choice(client: Client) -> None:
    shell = await asking(client, "--choice red")
    await question(client, "choice")
    shell.send(b"green\n")
    await shell.seen(b"green\r\nWhy")
    shell.send(b"red\n")
    await shell.seen(b"0 <red>")


@pytest.mark.parametrize("options", ["--choice", "--expires", "--colour", "one two"])
async def test_hawse_ask_refuses_wrong_options(client: Client, options: str) -> None:
    await client.ask("terminal.create", id="t", argv=["bash", "-c", f"hawse-ask {options}"])
    assert (await client.ask("terminal.wait", id="t", exit=True))["exit"]["code"] == 2


async def test_hawse_ask_needs_a_terminal(client: Client) -> None:
    assert (await client.execute(f"{COMMANDS}/hawse-ask why").result())["code"] == 4
