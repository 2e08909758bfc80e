"""Questions for people at a terminal: `terminal.ask`, `.questions`, `.answer`, `.claim` and `.refuse`."""

import base64
import binascii

from hawse.api.people import (
    Question,
    TerminalAnswer,
    TerminalAsk,
    TerminalClaim,
    TerminalQuestions,
    TerminalQuestionsResult,
    TerminalRefuse,
)
from hawse.rpc import handles, serves
from hawse.rpc.call import ServerCall
from hawse.wire import HawseError, Principal
from hawse.wire.sealing import SealError, unseal
from hawse_runtime.terminal.input import check_input, encode_input, outdated, type_input
from hawse_runtime.terminal.methods import TerminalMethods
from hawse_runtime.terminal.question_table import OpenQuestion, QuestionTable, name_of
from hawse_runtime.terminal.watch import ListWatches

INTERVAL = 0.25  # minimum number of seconds between events


class QuestionMethods:
    """Asks and answers the questions of all terminals."""

    def __init__(self, terminals: TerminalMethods) -> None:
        """Create the methods without questions, and follow the terminals' changes."""
        self._terminals = terminals
        self._watches = ListWatches("questions", self._visible, interval=INTERVAL)
        self.table = QuestionTable(self._watches.note_change)
        terminals.on_change = self.table.update

    def close(self) -> None:
        """Stop reporting changes."""
        self._watches.close()

    def _visible(self, caller: Principal) -> TerminalQuestionsResult:
        return TerminalQuestionsResult(questions=self.table.visible(caller.rights))

    @serves(TerminalQuestions)
    def _questions(self, call: ServerCall, params: TerminalQuestions) -> None:
        self._watches.serve(call)

    @handles(TerminalAsk, caller=True)
    def _ask(self, params: TerminalAsk, caller: Principal) -> Question:
        return self.table.ask(self._terminals.get(params.id, params.instance), params, caller)

    @handles(TerminalClaim, caller=True)
    def _claim(self, params: TerminalClaim, caller: Principal) -> Question:
        return self.table.claim(self.table.get(params.id, params.question), caller, release=bool(params.release))

    @handles(TerminalRefuse, caller=True)
    def _refuse(self, params: TerminalRefuse, caller: Principal) -> Question:
        question = self.table.get(params.id, params.question)
        self.table.check_claim(question, caller)
        return self.table.refuse(question, caller)

    @handles(TerminalAnswer, caller=True)
    async def _answer(self, params: TerminalAnswer, caller: Principal) -> Question:
        question = self.table.get(params.id, params.question)
        _check_form(question.info, params)
        async with question.terminal.sending:
            self.table.check_claim(question, caller)
            if question.info.kind == "secret":
                return await self._answer_secret(question, params, caller)
            if question.info.kind == "takeover":
                return self.table.settle(question, "answered", name_of(caller))
            keys = params.keys or (["enter"] if question.info.kind != "key" else [])
            data = await encode_input(question.terminal, params.text or "", keys=keys)
            self.table.check_claim(question, caller)
            participant = check_input(question.terminal, params.viewer, len(data), question.since)
            answered = self.table.settle(question, "answered", name_of(caller))
            type_input(question.terminal, participant, data)
            return answered

    async def _answer_secret(self, question: OpenQuestion, params: TerminalAnswer, caller: Principal) -> Question:
        terminal, since = question.terminal, question.since
        assert since is not None
        if not await terminal.waiting.confirms(since):
            raise outdated(terminal)
        self.table.check_claim(question, caller)
        check_input(terminal, params.viewer, 0, since)
        secret = _opened(question, params.sealed or "")
        try:
            if not terminal.waiting.asks(since):
                raise outdated(terminal)
            if not terminal.write_secret(secret, lambda: self.table.settle(question, "answered", name_of(caller))):
                text = f"terminal {terminal.id} echoes its input or does not read it, so the secret was not typed"
                raise HawseError("conflict", text)
        finally:
            secret[:] = bytes(len(secret))
        return question.info


def _check_form(question: Question, params: TerminalAnswer) -> None:
    """Raise `invalid_params` unless the answer has the form that the question's kind requires."""
    kind, given = question.kind, (params.text is not None, params.keys is not None, params.sealed is not None)
    text, keys, sealed = given
    if kind == "secret" and given != (False, False, True):
        problem = "the answer to a secret question must be in `sealed`, and only there"
    elif kind == "takeover" and any(given):
        problem = "a takeover is answered without input"
    elif kind in ("line", "choice") and given != (True, False, False):
        problem = f"the answer to a question of kind `{kind}` must be in `text`"
    elif kind == "key" and (sealed or not (text or keys)):
        problem = "the answer to a question of kind `key` must be in `text` or `keys`"
    elif kind == "choice" and params.text not in question.choices:
        problem = f"the answer must be one of {', '.join(question.choices)}"
    else:
        return
    raise HawseError("invalid_params", problem, details={"path": None})


def _opened(question: OpenQuestion, sealed: str) -> bytearray:
    """Decrypt a secret, which the caller must overwrite. Raises `invalid_params`."""
    assert question.keys is not None
    try:
        secret = unseal(base64.b64decode(sealed, validate=True), question.keys, question.info.id)
    except (SealError, binascii.Error) as error:
        raise HawseError("invalid_params", f"cannot open the answer: {error}", details={"path": "$.sealed"}) from None
    if any(byte < 0x20 or byte == 0x7F for byte in secret):
        secret[:] = bytes(len(secret))
        raise HawseError("invalid_params", "the answer contains control characters", details={"path": "$.sealed"})
    return secret
