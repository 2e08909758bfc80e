"""The questions of a sandbox's terminals: their states, owners and limits. This module knows nothing about channels.

    open ⇄ claimed → answered, refused, expired, withdrawn

A question is about one of a terminal's waiting states, and is withdrawn once that state ends. A `takeover` stays open
until it is settled or the program ends. When a program reads a password, the runtime itself adds a question.
"""

import asyncio
import base64
import secrets
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import Final, Literal, NamedTuple

import msgspec

from hawse.api.people import Question, QuestionKind, TerminalAsk
from hawse.api.rights import WRITE, allows
from hawse.api.terminals import TerminalWaiting
from hawse.wire import HawseError, Principal
from hawse.wire.sealing import KeyPair
from hawse_runtime.rpc.handle_checks import check_running
from hawse_runtime.terminal.announcement import Announcement
from hawse_runtime.terminal.input import outdated
from hawse_runtime.terminal.terminal import Terminal

PER_TERMINAL: Final = 8  # maximum number of open questions per terminal
PER_CALLER: Final = 32  # maximum number of open questions that a caller has asked
SETTLED_KEPT: Final = 64  # number of settled questions that are still listed

# Input that tells `hawse-ask` how its question ended. Ctrl-U first removes what has been typed into the line.
REFUSED: Final = b"\x15\x04"  # the end of the input
EXPIRED: Final = b"\x15\x18\r"  # a line that contains CAN, which can't occur in an answer

Ending = Literal["answered", "refused", "expired", "withdrawn"]
# The kinds of input that the program may be waiting for, keyed by kind of question.
_FITS: Final[dict[str, tuple[str, ...]]] = {
    "line": ("line", "key"),
    "choice": ("line", "key"),
    "key": ("key", "line"),
    "secret": ("secret",),
}


class Wait(NamedTuple):
    """The waiting state that a question is about."""

    since: float
    prompt: str | None
    command: str | None


class OpenQuestion:
    """A question that is not settled.

    Attributes:
        info: Its public state.
        terminal: Its terminal.
        since: `since` of the waiting state that it is about; None for a `takeover`.
        keys: The key pair for sealing the answer to a `secret`; otherwise None.
        asker: Id of the principal who asks; None if the program or the runtime asks.
        claimer: Id of the principal who has claimed it.
    """

    def __init__(self, info: Question, terminal: Terminal, since: float | None, asker: str | None) -> None:
        self.keys = KeyPair.generate() if info.kind == "secret" else None
        self.info = msgspec.structs.replace(info, seal=self.keys and base64.b64encode(self.keys.public).decode())
        self.terminal = terminal
        self.since = since
        self.asker = asker
        self.claimer: str | None = None
        self.timer: asyncio.TimerHandle | None = None


class QuestionTable:
    """All questions. `changed` is called after every change."""

    def __init__(self, changed: Callable[[], object]) -> None:
        self._changed = changed
        self._open: dict[str, OpenQuestion] = {}  # keyed by id, oldest first
        self._of_terminal: dict[Terminal, dict[str, OpenQuestion]] = {}
        self._of_caller: Counter[str] = Counter()
        self._listed: dict[Terminal, float] = {}  # `since` of the last waiting state of each running terminal
        self._settled: deque[Question] = deque(maxlen=SETTLED_KEPT)

    @property
    def asked(self) -> list[Question]:
        """The unsettled questions of callers and programs."""
        return [question.info for question in self._open.values() if question.info.source != "runtime"]

    def visible(self, rights: Iterable[str]) -> list[Question]:
        """Return the questions that a principal with these rights can answer, oldest first."""
        rights = tuple(rights)
        everything = (*self._settled, *(question.info for question in self._open.values()))
        return [question for question in everything if allows(rights, WRITE, question.terminal)]

    def get(self, terminal: str, id: str) -> OpenQuestion:
        """Return an unsettled question. Raises `not_found`, or `conflict` if it is settled."""
        question = self._open.get(id)
        if question is not None and question.info.terminal == terminal:
            return question
        settled = self.settled(terminal, id)
        if settled is None:
            raise HawseError("not_found", f"terminal {terminal} has no question {id}")
        by = "" if settled.by is None else f" by {settled.by}"
        details = {"state": settled.state}
        raise HawseError("conflict", f"question {id} was already {settled.state}{by}", details=details)

    def settled(self, terminal: str, id: str) -> Question | None:
        """Return how a question ended; None if it is not settled or not kept."""
        return next((one for one in self._settled if (one.terminal, one.id) == (terminal, id)), None)

    # ---- asking

    def ask(self, terminal: Terminal, params: TerminalAsk, caller: Principal) -> Question:
        """Add a caller's question, or add a reason to the question about the same password. Raises `HawseError`."""
        check_running("terminal", terminal)
        wait, kind = _subject(terminal, params)
        if (kind == "choice") != (params.choices is not None):
            raise HawseError(
                "invalid_params", "set `choices` if and only if `kind` is `choice`", details={"path": "$.choices"}
            )
        if self._of_caller[caller.id] >= PER_CALLER:
            raise HawseError("limit_exceeded", f"{caller.id!r} has {PER_CALLER} open questions")
        here = self._of_terminal.get(terminal, {}).values()
        if kind == "secret":
            for question in here:
                if question.info.source == "runtime":
                    return self._adopt(question, params, caller)
        if len(here) >= PER_TERMINAL:
            raise HawseError("limit_exceeded", f"terminal {terminal.id} has {PER_TERMINAL} open questions")
        info = Question(
            id=_new_id(),
            terminal=terminal.id,
            instance=terminal.instance,
            kind=kind,
            source="caller",
            caller=name_of(caller),
            reason=params.reason,
            choices=params.choices or [],
            asked=_now(),
        )
        return self._add(terminal, wait, info, expires=params.expires, asker=caller.id)

    def _adopt(self, question: OpenQuestion, params: TerminalAsk, caller: Principal) -> Question:
        """Let the caller take over a question that the runtime has listed."""
        question.asker = caller.id
        self._of_caller[caller.id] += 1
        question.info = msgspec.structs.replace(
            question.info, source="caller", caller=name_of(caller), reason=params.reason
        )
        self._limit(question, params.expires)
        self._changed()
        return question.info

    def _add(
        self, terminal: Terminal, wait: Wait | None, info: Question, *, expires: float | None, asker: str | None = None
    ) -> Question:
        if wait is not None:
            info = msgspec.structs.replace(info, prompt=wait.prompt, command=wait.command)
        question = OpenQuestion(info, terminal, wait and wait.since, asker)
        self._open[info.id] = question
        self._of_terminal.setdefault(terminal, {})[info.id] = question
        if asker is not None:
            self._of_caller[asker] += 1
        self._limit(question, expires)
        self._changed()
        return question.info

    def _limit(self, question: OpenQuestion, expires: float | None) -> None:
        if expires is not None:
            question.info = msgspec.structs.replace(question.info, expires=round(time.time() + expires, 3))
            question.timer = asyncio.get_running_loop().call_later(expires, self._expire, question)

    # ---- the life cycle of a question

    def claim(self, question: OpenQuestion, caller: Principal, *, release: bool) -> Question:
        """Claim or release a question."""
        question.claimer = None if release else caller.id
        by = None if release else name_of(caller)
        question.info = msgspec.structs.replace(question.info, state="open" if release else "claimed", by=by)
        self._changed()
        return question.info

    def check_claim(self, question: OpenQuestion, caller: Principal) -> None:
        """Raise `conflict` if another caller has claimed the question, or if it has been settled."""
        self.get(question.info.terminal, question.info.id)
        if question.claimer not in (None, caller.id):
            text = f"{question.info.by} has claimed question {question.info.id}; claim it to answer it yourself"
            raise HawseError("conflict", text, details={"state": "claimed"})

    def settle(self, question: OpenQuestion, state: Ending, by: str | None) -> Question:
        """End a question. `by` is the name of the person who has ended it."""
        info = question.info
        if self._open.pop(info.id, None) is None:
            return info
        here = self._of_terminal[question.terminal]
        del here[info.id]
        if not here:
            del self._of_terminal[question.terminal]
        if question.asker is not None:
            self._of_caller[question.asker] -= 1
            if not self._of_caller[question.asker]:
                del self._of_caller[question.asker]
        if question.timer is not None:
            question.timer.cancel()
        question.keys = None
        question.info = msgspec.structs.replace(info, state=state, by=by, settled=_now(), seal=None)
        self._settled.append(question.info)
        self._changed()
        question.terminal.wake()
        return question.info

    def refuse(self, question: OpenQuestion, caller: Principal) -> Question:
        """Refuse a question. `hawse-ask` is informed through its terminal."""
        refused = self.settle(question, "refused", name_of(caller))
        _inform(question, REFUSED)
        return refused

    def _expire(self, question: OpenQuestion) -> None:
        self.settle(question, "expired", None)
        _inform(question, EXPIRED)

    def update(self, terminal: Terminal) -> None:
        """Withdraw the questions about a waiting state that has ended, and list the question of a waiting program."""
        state = terminal.waiting.state
        for question in list(self._of_terminal.get(terminal, {}).values()):
            if terminal.exit is not None or question.since not in (None, state.since):
                typed = question.claimer is not None and terminal.exit is None
                self.settle(question, "answered" if typed else "withdrawn", question.info.by if typed else None)
        if terminal.exit is not None:
            self._listed.pop(terminal, None)
        elif state.since is not None and self._listed.get(terminal) != state.since:
            self._listed[terminal] = state.since
            self._list(terminal, state, Wait(state.since, state.prompt, state.command))

    def _list(self, terminal: Terminal, state: TerminalWaiting, wait: Wait) -> None:
        """Add the question that a program has announced, or a question for a password."""
        announced, terminal.shell_state.announced = terminal.shell_state.announced, None
        if announced is None or announced.end != terminal.journal.end or state.kind not in _FITS[announced.kind]:
            if state.kind != "secret":
                return
            announced = Announcement(0, "secret", None, [], None)
        info = Question(
            id=_new_id(),
            terminal=terminal.id,
            instance=terminal.instance,
            kind=announced.kind,
            source="program" if announced.end else "runtime",
            reason=announced.reason,
            choices=announced.choices,
            asked=wait.since,
        )
        self._add(terminal, wait, info, expires=announced.expires)


def name_of(caller: Principal) -> str:
    """Return the name to show for a caller."""
    return caller.name or caller.id


def _inform(question: OpenQuestion, data: bytes) -> None:
    """Type `data` if the program that has asked is still waiting."""
    terminal, since = question.terminal, question.since
    if question.info.source == "program" and since is not None and terminal.waiting.asks(since):
        terminal.write(data)


def _subject(terminal: Terminal, params: TerminalAsk) -> tuple[Wait | None, QuestionKind]:
    """Return the waiting state that a new question is about, and the question's kind. Raises `conflict`."""
    kind, state = "choice" if params.kind is None and params.choices else params.kind, terminal.waiting.state
    if params.question is not None and state.since != params.question:
        raise outdated(terminal)
    if kind == "takeover":
        return None, kind
    if state.since is None or state.kind == "no" or state.kind == "unknown":
        text = f"the program of terminal {terminal.id} is not waiting for input; only kind `takeover` can be asked"
        raise HawseError("conflict", text)
    kind = kind or state.kind
    if state.kind not in _FITS[kind]:
        text = f"the program of terminal {terminal.id} waits for input of kind `{state.kind}`, not `{kind}`"
        raise HawseError("conflict", text)
    return Wait(state.since, state.prompt, state.command), kind


def _new_id() -> str:
    return f"q-{secrets.token_hex(6)}"


def _now() -> float:
    return round(time.time(), 3)
