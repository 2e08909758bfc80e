"""`hawse terminals` and `hawse wait`: list a sandbox's terminals, and wait for them. `hawse inbox`, `hawse answer` and
`hawse refuse`: list and settle the questions that terminal programs and agents ask users.
"""

import asyncio
import math
import sys
import time
from typing import Final

import click
from msgspec.structs import asdict

from hawse.api.people import Question
from hawse.api.terminals import TerminalInfo, TerminalWaitResult
from hawse.cli.candidates import offer, terminals as terminals_of
from hawse.cli.commands.shell import EXIT_TIMED_OUT, exit_code
from hawse.cli.output import duration, examples, print_json, printable
from hawse.cli.target import Target
from hawse.cli.target_options import gateway_options, target_options
from hawse.client import Client, Sandbox
from hawse.wire import HawseError

LONGEST_WAIT: Final = 86_400.0  # time limit for a single call, in seconds
AT_ONCE: Final = 8  # number of sandboxes to ask at the same time
ANSWER_TIMEOUT: Final = 5.0  # seconds to wait for a sandbox, which can stop in the meantime


@click.command(epilog=examples("hawse terminals -s build"))
@target_options
def terminals(target: Target) -> None:
    """List a sandbox's running terminals and the ones that ended most recently."""

    async def work(client: Client, box: Sandbox) -> list[TerminalInfo]:
        return await box.terminals.list()

    target.print_list(work, ["ID", "STATE", "SIZE", "VIEWERS", "AGE", "WAITS", "DIRECTORY", "TITLE"], _row)


def _row(info: TerminalInfo) -> list[object]:
    return [
        info.id,
        info.state if info.exit is None else f"exited {exit_code(info.exit)}",
        f"{info.cols}x{info.rows}",
        info.viewers,
        duration(time.time() - info.started),
        "" if info.waiting.kind == "no" else info.waiting.kind,
        info.cwd,
        info.title,
    ]


@click.command(epilog=examples("hawse wait main", "hawse wait main --for-input --timeout 60"))
@click.argument("id", shell_complete=offer(terminals_of))
@click.option("--for-input", is_flag=True, help="also return when a program waits for input, and print its prompt")
@click.option("--timeout", type=click.FloatRange(min=0, max=86_400), metavar="SECONDS", help="give up after this time")
@target_options
def wait(target: Target, id: str, for_input: bool, timeout: float | None) -> int:
    """Wait until the terminal ID ends or a program in it waits for input. Returns the terminal's exit code.

    If a program waits for input, the exit code is 0, and two fields are printed, separated by a tab: the kind of input
    (`line`, `secret` or `key`) and the prompt. After --timeout, the exit code is 124.
    """

    async def work(client: Client, box: Sandbox) -> TerminalWaitResult:
        since = (await box.terminals.get(id)).offset
        async with box.terminals.attach(id, since=since, read_only=True) as terminal:
            until = math.inf if timeout is None else time.monotonic() + timeout
            while True:
                left = min(max(until - time.monotonic(), 0.001), LONGEST_WAIT)
                waited = await terminal.wait_for(exit=True, waiting=for_input, timeout=left)
                if waited.event != "timeout" or time.monotonic() >= until:
                    return waited

    waited = target.run(work)
    if target.as_json:
        print_json(waited)
    elif waited.waiting is not None:
        click.echo(f"{waited.waiting.kind}\t{printable(waited.waiting.prompt or '')}".rstrip())
    if waited.exit is not None:
        return exit_code(waited.exit)
    return EXIT_TIMED_OUT if waited.event == "timeout" else 0


class InboxQuestion(Question, frozen=True, kw_only=True):
    """A question, with the id of its sandbox."""

    sandbox: str


@click.command(epilog=examples("hawse inbox", "hawse inbox --json"))
@gateway_options
def inbox(target: Target) -> None:
    """List the unanswered questions from all running sandboxes where you can type into terminals."""

    async def work(client: Client, box: Sandbox) -> list[InboxQuestion]:
        return await _unsettled(client)

    target.print_list(
        work, ["ID", "SANDBOX", "KIND", "AGE", "TERMINAL", "FROM", "STATE", "PROMPT", "REASON"], _question_row
    )


def _question_row(question: InboxQuestion) -> list[object]:
    return [
        question.id,
        question.sandbox,
        question.kind,
        duration(time.time() - question.asked),
        question.terminal,
        question.caller or question.source,
        question.state if question.by is None else f"{question.state} by {question.by}",
        question.prompt,
        " / ".join([*([question.reason] if question.reason else []), *question.choices]),
    ]


@click.command(epilog=examples("hawse answer q-5d1c yes", "hawse answer q-77a2 --key enter"))
@click.argument("id")
@click.argument("text", required=False)
@click.option("--key", multiple=True, metavar="NAME", help="a key to press, for a question of kind `key`; repeatable")
@gateway_options
def answer(target: Target, id: str, text: str | None, key: tuple[str, ...]) -> None:
    """Answer the question ID. If TEXT is missing, asks for the answer or reads it from standard input.

    TEXT is typed into the program that asked, followed by Enter. A secret is never shown, and cannot be passed as TEXT,
    because other programs on this machine can see the arguments of commands. A takeover needs no answer; this command
    ends it.
    """

    async def find(client: Client, box: Sandbox) -> InboxQuestion:
        return await _find(client, id)

    question = target.run(find)
    if question.kind == "secret" and text is not None:
        raise click.UsageError("omit TEXT: the answer is a secret, so this command prompts for it")
    if text is None and not key and question.kind != "takeover":
        text = _asked_for(question)

    async def work(client: Client, box: Sandbox) -> Question:
        return await client.sandbox(question.sandbox).questions.answer(question, text, keys=list(key) or None)

    target.print_result(work, lambda settled: f"{settled.id} {settled.state}")


@click.command(epilog=examples("hawse refuse q-5d1c"))
@click.argument("id")
@gateway_options
def refuse(target: Target, id: str) -> None:
    """Refuse the question ID."""

    async def work(client: Client, box: Sandbox) -> Question:
        question = await _find(client, id)
        return await client.sandbox(question.sandbox).questions.refuse(question)

    target.print_result(work, lambda settled: f"{settled.id} {settled.state}")


def _asked_for(question: Question) -> str:
    """Ask for the answer at this terminal, or read it from standard input if that is not a terminal."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    label = printable(" ".join(filter(None, (question.reason, question.prompt)))) or "Answer"
    if question.kind == "choice":
        return str(click.prompt(label, type=click.Choice(question.choices), err=True))
    hidden = question.kind == "secret"
    return str(click.prompt(label, default="", show_default=False, hide_input=hidden, err=True, prompt_suffix=" "))


async def _find(client: Client, id: str) -> InboxQuestion:
    """Return the question with this id. Raises `not_found`."""
    for question in await _unsettled(client):
        if question.id == id:
            return question
    raise HawseError("not_found", f"no open question {id} in a running sandbox")


async def _unsettled(client: Client) -> list[InboxQuestion]:
    """Return the unsettled questions from all running sandboxes, oldest first."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def of(sandbox: str) -> list[InboxQuestion]:
        try:
            async with turns, asyncio.timeout(ANSWER_TIMEOUT):
                questions = await client.sandbox(sandbox).questions.list()
        except TimeoutError:
            click.echo(f"! sandbox {sandbox} did not answer within {ANSWER_TIMEOUT:g} s", err=True)
            return []
        except HawseError as error:
            if error.code not in ("forbidden", "not_found", "stopped"):
                click.echo(f"! sandbox {sandbox}: {error}", err=True)
            return []
        return [InboxQuestion(**asdict(each), sandbox=sandbox) for each in questions if each.unsettled]

    running = [info.id for info in await client.sandboxes.list() if info.state == "running"]
    found = await asyncio.gather(*map(of, running))
    return sorted((each for part in found for each in part), key=lambda each: each.asked)
