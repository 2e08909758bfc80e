"""Parses OSC 42973 ; ask, the control sequence that announces a program's question (docs/wire.md section 9).

`hawse-ask` prints it directly before it reads the answer from the terminal. 42973 spells hawse on a telephone keypad.
"""

import base64
import binascii
import math
from typing import Final, Literal, NamedTuple, get_args

from hawse.api.people import CHOICE_LIMIT, CHOICES_LIMIT, REASON_LIMIT

ProgramKind = Literal["line", "secret", "choice", "key"]

EXPIRES_LIMIT: Final = 86_400.0  # seconds


class Announcement(NamedTuple):
    """A question announced by a program.

    Attributes:
        end: The offset in the output after the control sequence.
        kind: The kind of answer.
        reason: Why an answer is needed; None if not stated.
        choices: The possible answers to a `choice`.
        expires: Seconds until the program no longer waits for the answer; None if it always waits.
    """

    end: int
    kind: ProgramKind
    reason: str | None
    choices: list[str]
    expires: float | None


def parse_announcement(value: bytes, end: int) -> Announcement | None:
    """Parse `ask;KIND;EXPIRES;REASON;CHOICE…`, where the reason and the choices are UTF-8 in base64.

    Args:
        value: The control sequence's payload after its number.
        end: The offset in the output after the control sequence.

    Returns:
        The question, or None if the payload is invalid.
    """
    try:
        verb, kind, expires, *texts = value.decode("ascii").split(";")
        seconds = float(expires) if expires else None
        reason, *choices = (_printable(base64.b64decode(text, validate=True)) for text in texts)
    except (ValueError, binascii.Error):
        return None
    if verb != "ask" or kind not in get_args(ProgramKind) or (kind == "choice") != bool(choices):
        return None
    if seconds is not None and not (math.isfinite(seconds) and 0 < seconds <= EXPIRES_LIMIT):
        return None
    if len(choices) > CHOICES_LIMIT or not all(0 < len(choice) <= CHOICE_LIMIT for choice in choices):
        return None
    return Announcement(end, kind, reason[:REASON_LIMIT] or None, choices, seconds)  # type: ignore[arg-type]  # checked


def _printable(text: bytes) -> str:
    return "".join(char for char in text.decode(errors="replace") if char.isprintable())
