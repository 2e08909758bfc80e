"""`box.questions`: asks users for the input that terminal programs are waiting for, and answers such questions."""

import base64
import builtins

from hawse.api.people import (
    Question,
    QuestionKind,
    TerminalAnswer,
    TerminalAsk,
    TerminalClaim,
    TerminalQuestions,
    TerminalQuestionsResult,
    TerminalRefuse,
)
from hawse.client.calls.sandbox_part import SandboxPart
from hawse.client.calls.state_stream import StateStream, StateStreamCall
from hawse.wire import HawseError
from hawse.wire.sealing import seal


class Questions(SandboxPart):
    """A sandbox's questions for users. The handle doesn't have to be closed."""

    async def ask(
        self,
        terminal: str,
        reason: str,
        *,
        instance: str | None = None,
        kind: QuestionKind | None = None,
        choices: builtins.list[str] | None = None,
        expires: float | None = None,
        question: float | None = None,
    ) -> Question:
        """Ask the terminal's users to answer its program's question, or to take over the terminal.

        Returns immediately; `wait` returns how the question ends.

        Args:
            terminal: The id of the terminal.
            reason: Why an answer is needed, in one line.
            instance: The expected instance; None accepts any.
            kind: The kind of answer; None means `choice` if there are choices, or else the kind of input that the
                program waits for.
            choices: The possible answers.
            expires: Seconds until the question expires; None means that it does not expire.
            question: `since` of the `waiting` state that the question is about; None means the current state.

        Raises:
            HawseError: `conflict` if the program is not waiting for such an answer; `limit_exceeded` if too many
                questions are open; `not_found`, `stale_handle` or `exited`.
        """
        params = TerminalAsk(
            id=terminal,
            instance=instance,
            reason=reason,
            kind=kind,
            choices=choices,
            expires=expires,
            question=question,
        )
        return await self._request(params)

    def watch(self) -> StateStream[builtins.list[Question]]:
        """Return a context manager and iterator over the questions, now and after every change.

        The list has the questions that the caller can answer and the ones that ended most recently, oldest first.
        """
        call = StateStreamCall(TerminalQuestions(), sandbox=self._sandbox, window=self._window)
        return StateStream(self._calls, call, _questions_of)

    async def list(self) -> builtins.list[Question]:
        """Return the questions that the caller can answer and the ones that ended most recently, oldest first."""
        async with self.watch() as watch:
            return await anext(aiter(watch))

    async def wait(self, question: Question) -> Question:
        """Wait until a question is settled, and return how it ended.

        Raises:
            HawseError: `not_found` if it ended so long ago that the runtime has forgotten it.
        """
        async with self.watch() as watch:
            async for questions in watch:
                found = next((each for each in questions if each.id == question.id), None)
                if found is None:
                    raise HawseError("not_found", f"question {question.id} is no longer known")
                if not found.unsettled:
                    return found
        raise HawseError("not_found", f"question {question.id} is no longer known")

    async def answer(
        self, question: Question, text: str | None = None, *, keys: builtins.list[str] | None = None
    ) -> Question:
        """Answer a question: type the answer into the terminal.

        The answer to a `secret` is sealed for the runtime, so the gateway cannot read it.

        Args:
            question: The question.
            text: A line or one of the choices, typed with Enter; for `key`, text without Enter. None ends a `takeover`.
            keys: For `key`: names of keys to press after the text.

        Raises:
            HawseError: `conflict` if it has already ended, another caller has claimed it, or the program is
                no longer waiting for this answer; `invalid_params` if the answer does not fit the question;
                `lease_held` if another viewer holds the writer lease.
        """
        sealed = None
        if question.seal is not None and text is not None:
            try:
                closed = seal(text.encode(), base64.b64decode(question.seal), question.id)
            except ValueError as error:
                raise HawseError("invalid_params", str(error)) from None
            text, sealed = None, base64.b64encode(closed).decode()
        params = TerminalAnswer(id=question.terminal, question=question.id, text=text, keys=keys, sealed=sealed)
        return await self._request(params)

    async def claim(self, question: Question, *, release: bool = False) -> Question:
        """Claim a question, so that others see that a person is working on it, or end the claim.

        Raises:
            HawseError: `conflict` if it has already ended.
        """
        params = TerminalClaim(id=question.terminal, question=question.id, release=release or None)
        return await self._request(params)

    async def refuse(self, question: Question) -> Question:
        """Refuse a question. Raises `conflict` if it has already ended."""
        return await self._request(TerminalRefuse(id=question.terminal, question=question.id))


def _questions_of(state: TerminalQuestionsResult) -> builtins.list[Question]:
    return state.questions
