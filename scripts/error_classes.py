"""Write the client's exception classes, `hawse/client/base/causes.py`, from the table of errors.

The description of each comes from `docs/wire.md` section 8.
"""

import re
import textwrap
from pathlib import Path
from typing import Final

from hawse.wire.errors import ERRORS

WIRE: Final = Path(__file__).resolve().parent.parent / "docs" / "wire.md"
ROW: Final = re.compile(r"^\| ((?:`\w+`(?:, )?)+) \| \d+ \| (?:yes|no) \| (.*) \|$", re.MULTILINE)

LINE: Final = 110  # characters of a docstring's line

# Errors that close the connection: a caller gets them as `RefusedError` or `RemoteProtocolError`.
OF_CONNECTIONS: Final = ("invalid_message", "protocol_error", "credit_exceeded", "hello_timeout", "backlog")

# Names that are not the code's own: Python has an `InterruptedError` and a `CancelledError` of another meaning.
NAMES: Final = {"interrupted": "ConnectionLostError", "cancelled": "CallCancelledError", "io_error": "IoError"}

# Built-in exceptions of the same meaning, which `except` finds too.
BUILTIN: Final = {
    "not_found": ("FileNotFoundError", "ENOENT"),
    "deadline_exceeded": ("TimeoutError", "ETIMEDOUT"),
    "permission_denied": ("PermissionError", "EACCES"),
    "is_directory": ("IsADirectoryError", "EISDIR"),
    "not_directory": ("NotADirectoryError", "ENOTDIR"),
    "no_space": ("OSError", "ENOSPC"),
    "io_error": ("OSError", "EIO"),
}

HEADER: Final = '''"""The exceptions by cause, one for each code of the table of errors that a call can end with.

Generated from hawse/wire/errors.py and docs/wire.md by `make generate`; do not edit.
"""

import errno
from typing import Any, Final

from hawse.wire import Admitted, HawseError

'''
CLASS: Final = '''
class {name}({bases}):
    """{text}"""
{errno}
    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, "{code}", message, admitted=admitted, details=details)

'''


def class_name(code: str) -> str:
    """Return the name of the exception for a code."""
    return NAMES.get(code) or "".join(part.capitalize() for part in code.split("_")) + "Error"


def meanings() -> dict[str, str]:
    """Return what each code means, from the specification."""
    found: dict[str, str] = {}
    for codes, text in ROW.findall(WIRE.read_text("utf-8")):
        names = re.findall(r"`(\w+)`", codes)
        parts = text.split("; ") if len(names) > 1 else [text]
        found |= dict(zip(names, parts, strict=True))
    return found


def error_classes() -> str:
    """Return the text of the module."""
    texts = meanings()
    codes = [code for code in ERRORS if code not in OF_CONNECTIONS]
    classes = "".join(
        CLASS.format(
            name=class_name(code),
            bases=f"HawseError, {BUILTIN[code][0]}" if code in BUILTIN else "HawseError",
            errno=f"\n    errno = errno.{BUILTIN[code][1]}\n" if code in BUILTIN else "",
            text=_docstring(f"Code `{code}`: {texts[code]}."),
            code=code,
        )
        for code in codes
    )
    table = "".join(f'    "{code}": {class_name(code)},\n' for code in codes)
    return f"{HEADER}{classes}\nCAUSES: Final[dict[str, type[HawseError]]] = {{\n{table}}}\n"


def _docstring(text: str) -> str:
    """The text of a docstring in a class: on one line, or with the rest of a long one on lines of its own."""
    lines = textwrap.wrap(text, LINE)
    return text if len(lines) == 1 else "\n    ".join(lines) + "\n    "
