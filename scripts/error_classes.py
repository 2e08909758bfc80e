"""Writes the client's exception classes, `hawse/client/base/call_errors.py`, from the table of errors."""

import textwrap
from typing import Final

from hawse.wire.errors import ERRORS

LINE: Final = 110  # maximum characters per line of a docstring

# Errors that close the connection. Callers receive them as `RefusedError` or `RemoteProtocolError`.
OF_CONNECTIONS: Final = ("invalid_message", "protocol_error", "credit_exceeded", "hello_timeout", "backlog")

# Names that differ from the code. Python's `InterruptedError` and `CancelledError` have other meanings.
NAMES: Final = {"interrupted": "ConnectionLostError", "cancelled": "CallCancelledError", "io_error": "IoError"}

# Built-in exceptions with the same meaning. They are base classes, so that `except` can name them.
BUILTIN: Final = {
    "not_found": ("FileNotFoundError", "ENOENT"),
    "deadline_exceeded": ("TimeoutError", "ETIMEDOUT"),
    "permission_denied": ("PermissionError", "EACCES"),
    "is_directory": ("IsADirectoryError", "EISDIR"),
    "not_directory": ("NotADirectoryError", "ENOTDIR"),
    "no_space": ("OSError", "ENOSPC"),
    "io_error": ("OSError", "EIO"),
}

HEADER: Final = '''"""One exception class for each error code that a call can end with.

Generated from hawse/wire/errors.py by `make generate`; do not edit.
"""

import errno
from typing import Any, Final

from hawse.wire import Admitted, HawseError


class CallError(HawseError):
    """The base of the classes below. Each class defines its `code` as a class attribute."""

    def __init__(self, message: str = "", *, admitted: Admitted = "no", details: Any = None) -> None:
        HawseError.__init__(self, self.code, message, admitted=admitted, details=details)

'''
CLASS: Final = '''
class {name}({bases}):
    """{text}"""

    code = "{code}"
{errno}
'''


def class_name(code: str) -> str:
    """Return the name of the exception class for a code."""
    return NAMES.get(code) or "".join(part.capitalize() for part in code.split("_")) + "Error"


def error_classes() -> str:
    """Return the source of the module."""
    codes = [code for code in ERRORS if code not in OF_CONNECTIONS]
    classes = "".join(
        CLASS.format(
            name=class_name(code),
            bases=f"CallError, {BUILTIN[code][0]}" if code in BUILTIN else "CallError",
            errno=f"    errno = errno.{BUILTIN[code][1]}\n" if code in BUILTIN else "",
            text=_docstring(f"Code `{code}`: {ERRORS[code].meaning}."),
            code=code,
        )
        for code in codes
    )
    table = "".join(f'    "{code}": {class_name(code)},\n' for code in codes)
    return f"{HEADER}{classes}\nCALL_ERRORS: Final[dict[str, type[HawseError]]] = {{\n{table}}}\n"


def _docstring(text: str) -> str:
    """Return the wrapped text of a class docstring."""
    lines = textwrap.wrap(text, LINE)
    return text if len(lines) == 1 else "\n    ".join(lines) + "\n    "
