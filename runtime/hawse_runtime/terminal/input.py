"""Types input into a terminal on behalf of a call: encodes keys, checks whether the caller can type, and writes."""

import asyncio
from collections.abc import Callable, Sequence

from hawse.wire import HawseError
from hawse_runtime.people.presence import ViewerPresence
from hawse_runtime.posix.fd_streams import WRITE_LIMIT
from hawse_runtime.rpc.handle_checks import check_running
from hawse_runtime.screen.requests import Answer, AnyRequest, Keys
from hawse_runtime.terminal.terminal import Terminal
from hawse_runtime.terminal.viewer import INTERRUPT


async def encode_input(terminal: Terminal, text: str = "", paste: str = "", keys: Sequence[str] = ()) -> bytes:
    """Return the bytes for text, then pasted text, then keys, according to the modes set by the program."""
    data = text.encode()
    if paste or keys:
        data += (await ask_screen(terminal, lambda screen: Keys(screen, paste, list(keys))))[0]
    return data


async def ask_screen(terminal: Terminal, make: Callable[[int], AnyRequest]) -> tuple[bytes, int]:
    """Send a request to the screen; return the data and its output offset. Raises any error that the screen reports."""
    answered: asyncio.Future[Answer | None] = asyncio.get_running_loop().create_future()
    place = terminal.ask_screen(make, lambda answer: None if answered.done() else answered.set_result(answer))
    answer = await answered
    if answer is None:
        raise HawseError("limit_exceeded", "the terminal's screen cannot be read now; retry later", retryable=True)
    if (refusal := answer.refusal) is not None:
        raise HawseError(refusal.code, refusal.message, details=refusal.details)
    return answer.data, place.offset


def check_input(terminal: Terminal, viewer: str | None, size: int, question: float | None) -> ViewerPresence | None:
    """Check that `size` bytes can be typed now, and return the viewer's participant.

    Args:
        terminal: The terminal.
        viewer: Key of the viewer that types; None for the caller itself.
        size: Number of bytes.
        question: `since` of the question that the input answers; None skips this check.

    Raises:
        HawseError: `exited`, `conflict` if the question is outdated, `not_found` if there is no such viewer,
            `forbidden` if it is read-only, `lease_held`, or `input_overflow`.
    """
    check_running("terminal", terminal)
    if question is not None and not terminal.waiting.asks(question):
        raise outdated(terminal)
    participant = None if viewer is None else terminal.participants.find(viewer)
    if participant is not None and participant.read_only:
        raise HawseError("forbidden", f"viewer {viewer!r} is read-only")
    terminal.participants.check_may_write(participant, 0)
    if terminal.input_pending + size > WRITE_LIMIT:
        raise HawseError("input_overflow", "the program is not reading its input", details={"applied": 0})
    return participant


def type_input(terminal: Terminal, participant: ViewerPresence | None, data: bytes) -> None:
    """Write `data` on behalf of a viewer, or of the caller if `participant` is None. Call `check_input` first."""
    if participant is not None and data:
        terminal.participants.record_input(participant, data)
    terminal.write(data)
    if INTERRUPT in data:
        terminal.viewers.skip_backlog()


def outdated(terminal: Terminal) -> HawseError:
    """Return the error for an answer that the program no longer waits for."""
    text = f"the program of terminal {terminal.id} is no longer waiting for this answer; nothing was typed"
    return HawseError("conflict", text)
