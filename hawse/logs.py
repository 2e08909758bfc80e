"""How gateways and runtimes log: terse lines for people, or one JSON object a line for machines.

A line begins with a direction mark: `<` in, `>` out, `=` state, `!` trouble. No
payload, token or ticket is ever logged.
"""

import json
import logging
from datetime import UTC, datetime
from typing import Any, Final, Literal

Form = Literal["text", "json"]

FORMS: Final = ("text", "json")
TEXT: Final = "%(asctime)s %(levelname)s %(name)s %(message)s"
# What a call may say beside its message, with `extra=`. Nothing else gets out, whatever a library adds to its records.
FIELDS: Final = ("peer", "role", "sandbox", "code", "runtime")


class JsonLines(logging.Formatter):
    """`{"time", "level", "logger", "message"}`, then those of `FIELDS` that are known, and `trace` of an exception."""

    def format(self, record: logging.LogRecord) -> str:
        said: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        for name in FIELDS:
            if (value := getattr(record, name, None)) is not None:
                said[name] = value
        if record.exc_info:
            said["trace"] = self.formatException(record.exc_info)
        return json.dumps(said, default=str)


def handler(form: Form) -> logging.Handler:
    """One that writes to stderr, whole lines."""
    made = logging.StreamHandler()
    made.setFormatter(JsonLines() if form == "json" else logging.Formatter(TEXT))
    return made
