"""Logging for gateways and runtimes: human-readable lines, or one JSON object per line.

A message starts with a direction mark: `<` in, `>` out, `=` state, `!` error. Payloads, tokens and tickets must not be
logged.
"""

import json
import logging
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Final, Literal

Form = Literal["text", "json"]

FORMS: Final = ("text", "json")
TEXT: Final = "%(asctime)s %(levelname)s %(name)s %(message)s"
# The current call's `traceparent`. Each of the call's log lines includes its trace and span.
TRACE: Final[ContextVar[str | None]] = ContextVar("hawse_trace", default=None)
# The fields that a log call can add with `extra=`. Other attributes, such as those added by libraries, are not written.
FIELDS: Final = ("peer", "role", "sandbox", "code", "runtime")


def trace_fields() -> dict[str, str]:
    """Return `trace_id` and `request` (the current call's span), or an empty dict outside a call."""
    parts = (TRACE.get() or "").split("-")
    return {"trace_id": parts[1], "request": parts[2]} if len(parts) == 4 else {}


class TextLines(logging.Formatter):
    """Formats a record as a line of text that ends with the id of the current call."""

    def __init__(self) -> None:
        super().__init__(TEXT)

    def formatMessage(self, record: logging.LogRecord) -> str:  # overrides a base class method
        request = trace_fields().get("request")
        return super().formatMessage(record) + (f" [{request}]" if request else "")


class JsonLines(logging.Formatter):
    """Formats a record as JSON: `time`, `level`, `logger`, `message`, the `FIELDS` that are set, and an exception's
    `trace`.
    """

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        for name in FIELDS:
            if (value := getattr(record, name, None)) is not None:
                fields[name] = value
        fields |= trace_fields()
        if record.exc_info:
            fields["trace"] = self.formatException(record.exc_info)
        return json.dumps(fields, default=str)


def handler(form: Form) -> logging.Handler:
    """Return a handler that writes complete lines to stderr in the requested format."""
    stream = logging.StreamHandler()
    stream.setFormatter(JsonLines() if form == "json" else TextLines())
    return stream
