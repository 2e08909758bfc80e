"""A terminal's users: `terminal.presence`, `terminal.lease`, the events about viewers and the writer lease, and
questions for users: `terminal.ask`, `.questions`, `.answer`, `.claim` and `.refuse`.
"""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from hawse.api.rights import VIEW, WRITE
from hawse.api.spec import SELECTED, Nothing, Params, ParamsValue, Reply, method
from hawse.api.types import KEYS_LIMIT, Id, KeyName, WaitSeconds, matching

ParticipantKind = Literal["person", "agent"]
LeaseAction = Literal["take", "release", "free", "exclusive", "ask", "withdraw", "give", "keep"]

ViewerKey = Annotated[str, Meta(min_length=1, max_length=64)]
ParticipantName = Annotated[str, Meta(max_length=256)]
Coordinate = Annotated[int, Meta(ge=0, le=999)]
ScrolledRows = Annotated[int, Meta(ge=0, le=10_000_000)]
# None of these characters is escaped in JSON, so an event with the maximum number of viewers fits into a control
# message.
_LOOKED_AT = "printable ASCII without quotation marks and backslashes"
LookedAt = Annotated[str, matching(r"^[ !#-\[\]-~]*$(?!\n)", _LOOKED_AT, max_length=200)]


# ---- values


class ViewerProfile(ParamsValue):
    """How a viewer introduces itself in `terminal.attach`.

    Args:
        key: Random secret that identifies the viewer when it reconnects; null means a new viewer on each connection.
        name: Display name, truncated to 40 characters; null means `guest-N` or `agent-N`. If the token, account or link
            has a name, that name is used instead.
        color: Preferred color (`#rrggbb`), one of the ten in the palette. Ignored if the color is in use or not in the
            palette.
        kind: Whether it is a person or an agent; null keeps the current value, which is initially `person`.
        focus: Whether the viewer's user is looking at the terminal; null keeps the current value, which is initially
            false.
    """

    key: ViewerKey | None = None
    name: ParticipantName | None = None
    color: str | None = None
    kind: ParticipantKind | None = None
    focus: bool | None = None


class PointerPosition(ParamsValue):
    """A cell of the screen.

    Args:
        x: Column, from 0.
        y: Row, from 0.
    """

    x: Coordinate
    y: Coordinate


class Participant(Reply, frozen=True, kw_only=True):
    """A viewer, as seen by the other viewers.

    Attributes:
        id: The viewer's public id, such as `v3`.
        name: Display name, 1 to 40 characters, with no control or format characters.
        color: The viewer's color, `#rrggbb`. Dark text is readable on it.
        kind: Whether it is a person or an agent.
        read_only: Whether it is not allowed to type.
        typing: Whether it is typing; reset 2 seconds after the last keystroke.
        focus: Whether the viewer's user is looking at the terminal.
        at: The cell that the viewer's pointer is on; null if the pointer is hidden.
        guest: Whether it uses a share link. Guests choose their own names unless the link has one.
        asks: Whether it is asking the holder for the writer lease; reset after 60 seconds without a reply.
        unanswered: Whether its last request for the lease expired without a reply; reset when it asks again or the
            lease changes.
        scroll: Number of rows the viewer's user has scrolled back; 0 at the end of the output.
        view: The object the viewer's user is looking at, in the client's own notation; empty if unknown, or if the
            receiver may not see the whole sandbox.
    """

    id: str
    name: str
    color: str
    kind: ParticipantKind
    read_only: bool
    typing: bool
    focus: bool
    at: PointerPosition | None = None
    guest: bool = False
    asks: bool = False
    unanswered: bool = False
    scroll: int = 0
    view: str = ""


class ParticipantEvent(Reply, frozen=True, kw_only=True):
    """A viewer has joined or changed.

    Attributes:
        viewer: The viewer after the change.
    """

    viewer: Participant


class ParticipantLeft(Reply, frozen=True, kw_only=True):
    """A viewer has left.

    Attributes:
        id: Public id of the viewer.
    """

    id: str


class WriterLease(Reply, frozen=True, kw_only=True):
    """The viewers that may type into a terminal.

    Attributes:
        mode: `free` if all viewers may type, `exclusive` if only the holder may.
        holder: Public id of the viewer that holds the lease; null in `free` mode.
        epoch: Number of times the lease has changed so far.
    """

    mode: Literal["free", "exclusive"]
    holder: str | None = None
    epoch: int


class WriterLeaseEvent(WriterLease, frozen=True, kw_only=True):
    """The writer lease has changed.

    Attributes:
        applied: Number of bytes of this channel's own input stream that were applied before the change.
    """

    applied: int


# ---- methods


@method("terminal.presence", audit=False, requires=VIEW, terminal="id", raises=("not_found",))
class TerminalPresence(Params[ParticipantEvent], kw_only=True):
    """Change how a viewer appears to the other viewers of a terminal.

    Omitted fields stay the same.

    Args:
        id: Id of the terminal.
        viewer: Key of the viewer.
        name: Display name; null keeps the current name.
        color: Preferred color (`#rrggbb`). If it is null, in use or not in the palette, the color remains unchanged.
        focus: Whether the viewer's user is looking at the terminal; null keeps the current value.
        at: The cell that the viewer's pointer is on. Null hides the pointer; if this field is omitted, the pointer is
            unchanged.
        scroll: Number of rows the viewer's user has scrolled back from the end; null keeps the current value.
        view: The object the viewer's user is looking at, in the client's own notation; null keeps the current value.
    """

    id: str
    viewer: ViewerKey
    name: ParticipantName | None = None
    color: str | None = None
    focus: bool | None = None
    at: PointerPosition | UnsetType | None = UNSET
    scroll: ScrolledRows | None = None
    view: LookedAt | None = None


@method("terminal.lease", requires=WRITE, terminal="id", raises=("not_found", "conflict", "forbidden"))
class TerminalLease(Params[WriterLease], kw_only=True):
    """Change which viewers may type into a terminal.

    `take` makes `viewer` the holder. `exclusive` does the same, but only if no other viewer is the holder. `release`
    lets all viewers type again, but only if no other viewer is the holder. `free` always lets all viewers type again.

    `ask` asks the holder to hand the lease over. The `asks` field of `viewer` is then true until the lease changes,
    `viewer` sends `withdraw` or leaves, the holder sends `keep`, or 60 seconds pass. `ask` has no effect while all
    viewers may type. `give` transfers the lease from `viewer` to the viewer `to`.

    The error is `conflict` if `exclusive` or `release` is refused, if `give` or `keep` comes from a viewer that is not
    the holder, or if `epoch` is outdated. The lease is in `details`. For a read-only viewer, the error is `forbidden`.

    Args:
        id: Id of the terminal.
        action: The action to take.
        viewer: Key of the viewer taking the action; can be null only for `release` and `free`.
        to: Public id of another viewer. For `give`, the next holder (required); for `keep`, the viewer whose request to
            refuse, or null to refuse all requests.
        epoch: The epoch that the lease must have; null means any.
    """

    id: str
    action: LeaseAction
    viewer: ViewerKey | None = None
    to: str | None = None
    epoch: int | None = None


# ---- questions


REASON_LIMIT: Final = 1024  # maximum length of a reason, in characters
CHOICES_LIMIT: Final = 16  # maximum number of choices
CHOICE_LIMIT: Final = 256  # maximum length of a choice, in characters
ANSWER_LIMIT: Final = 1000  # maximum length of an answer, in characters; a terminal's line has at most 4,095 bytes
SEALED_LIMIT: Final = 6000  # maximum length of a sealed answer in base64, at 4 bytes per character

QuestionKind = Literal["line", "secret", "choice", "key", "takeover"]
QuestionState = Literal["open", "claimed", "answered", "refused", "expired", "withdrawn"]
_PRINTABLE: Final = (r"^[^\x00-\x1f\x7f]*$(?!\n)", "text without control characters")
Reason = Annotated[str, matching(*_PRINTABLE, min_length=1, max_length=REASON_LIMIT)]
Choice = Annotated[str, matching(*_PRINTABLE, min_length=1, max_length=CHOICE_LIMIT)]
Line = Annotated[str, matching(*_PRINTABLE, max_length=ANSWER_LIMIT)]
Choices = Annotated[list[Choice], Meta(min_length=1, max_length=CHOICES_LIMIT)]


class Question(Reply, frozen=True, kw_only=True):
    """A question for a terminal's users.

    Attributes:
        id: Id of the question; unique in its sandbox.
        terminal: Id of the terminal.
        instance: Instance of the terminal.
        kind: The answer: a `line`, a `secret` line, a `choice`, `key` presses, or `takeover` of the terminal.
        state: `claimed` while a person is working on it, `withdrawn` if the program is no longer waiting.
        source: A `caller` of `terminal.ask`, the `program` (`hawse-ask`), or the `runtime` for any program that reads a
            password.
        caller: Name of the caller who asks; null for other sources.
        reason: Why an answer is needed; null if it was asked without a reason.
        prompt: The program's prompt; null if it has none.
        command: The waiting program and its arguments; null if unknown.
        choices: The possible answers to a `choice`.
        asked: When it was asked, in seconds since 1970.
        expires: When it expires, in seconds since 1970; null if it does not expire.
        by: Name of the person who has claimed, answered or refused it; otherwise null.
        settled: When it ended, in seconds since 1970; null while it is open or claimed.
        seal: For a `secret` that is not settled: the public key for sealing the answer (docs/wire.md section 9).
    """

    id: str
    terminal: str
    instance: str
    kind: QuestionKind
    state: QuestionState = "open"
    source: Literal["caller", "program", "runtime"]
    caller: str | None = None
    reason: str | None = None
    prompt: str | None = None
    command: str | None = None
    choices: list[str] = msgspec.field(default_factory=list)
    asked: float
    expires: float | None = None
    by: str | None = None
    settled: float | None = None
    seal: str | None = None

    @property
    def unsettled(self) -> bool:
        """Whether it can still be answered."""
        return self.state in ("open", "claimed")


class TerminalQuestionsResult(Reply, frozen=True, kw_only=True):
    """Questions.

    Attributes:
        questions: All questions that can be answered, and the last 64 that have ended; oldest first.
    """

    questions: list[Question]


@method(
    "terminal.ask",
    requires=WRITE,
    terminal="id",
    raises=("not_found", "stale_handle", "exited", "conflict", "limit_exceeded"),
)
class TerminalAsk(Params[Question], kw_only=True):
    """Ask the terminal's users to answer its program's question, or to take over the terminal.

    All callers with the `write` right at the terminal see the question; `terminal.questions` reports how it ends.
    Except for `takeover`, the program must be waiting for input of this kind; otherwise, the error is `conflict`. The
    question is withdrawn once the program stops waiting. When a program reads a password, a question exists even
    without this call; the call adds the reason to it.

    At most 8 questions per terminal and 32 per caller can be open (`limit_exceeded`).

    Args:
        id: Id of the terminal.
        instance: The expected instance. If the terminal has been replaced, the error is `stale_handle`. Null accepts
            any instance.
        reason: Why an answer is needed, in one line.
        kind: The kind of answer; null means `choice` if there are choices, or else the program's kind of input.
        choices: The possible answers, for `choice`.
        expires: Seconds until the question expires; null means that it does not expire.
        question: `since` of the `waiting` state that the question is about; if outdated, the error is `conflict`. Null
            means the current state.
    """

    id: Id
    instance: str | None = None
    reason: Reason
    kind: QuestionKind | None = None
    choices: Choices | None = None
    expires: WaitSeconds | None = None
    question: float | None = None


@method(
    "terminal.questions",
    events={"questions": TerminalQuestionsResult},
    requires=WRITE,
    terminal=SELECTED,
    passive=True,
)
class TerminalQuestions(Params[Nothing], kw_only=True):
    """Report all questions that the caller can answer, now and whenever one of them changes.

    There is at most one event per 0.25 seconds; changes in the meantime are merged, as are changes that the client has
    no credit for.
    """


@method(
    "terminal.answer",
    requires=WRITE,
    terminal="id",
    raises=("not_found", "conflict", "exited", "forbidden", "lease_held", "input_overflow", "limit_exceeded"),
)
class TerminalAnswer(Params[Question], kw_only=True):
    """Answer a question: type the answer into the terminal.

    A line or choice is typed with Enter. The answer to a `secret` must be sealed; it is typed, but not stored.

    Nothing is typed, and the error is `conflict`, if the program is no longer waiting for this answer, if the terminal
    would echo a secret, or if another caller has claimed the question. Claim such a question before answering it.

    Args:
        id: Id of the terminal.
        question: Id of the question.
        text: The answer to `line`, `choice` and `key`.
        keys: Names of keys to press, as in `terminal.send`, for `key`.
        sealed: The sealed answer to `secret`, in base64 (docs/wire.md section 9).
        viewer: Key of the viewer that is typing; null for a client that is not a viewer.
    """

    id: Id
    question: Id
    text: Line | None = None
    keys: Annotated[list[KeyName], Meta(max_length=KEYS_LIMIT)] | None = None
    sealed: Annotated[str, Meta(max_length=SEALED_LIMIT)] | None = None
    viewer: ViewerKey | None = None


@method("terminal.claim", requires=WRITE, terminal="id", raises=("not_found", "conflict"))
class TerminalClaim(Params[Question], kw_only=True):
    """Claim a question, so that others see that a person is working on it.

    A claim replaces another caller's earlier claim. If the program is no longer waiting, a claimed question counts as
    answered, because the person has typed into the terminal. If it has already ended, the error is `conflict`.

    Args:
        id: Id of the terminal.
        question: Id of the question.
        release: Whether to end the claim instead; null means false.
    """

    id: Id
    question: Id
    release: bool | None = None


@method("terminal.refuse", requires=WRITE, terminal="id", raises=("not_found", "conflict"))
class TerminalRefuse(Params[Question], kw_only=True):
    """Refuse a question, or withdraw one that the caller asked. If it has already ended, the error is `conflict`.

    The program keeps waiting, except for `hawse-ask`, which ends with exit code 1.

    Args:
        id: Id of the terminal.
        question: Id of the question.
    """

    id: Id
    question: Id
