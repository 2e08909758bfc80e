"""Configures logging. Each event is one line with a mark for its kind: `<` in, `>` out, `=` state, `!` error.

Payloads, tokens and tickets are never logged. uvicorn logs URLs, which contain tickets, so only its warnings are
enabled.
"""

import logging
from dataclasses import dataclass
from typing import Annotated

from hawse.logs import FORMS, Form, JsonLines, handler
from hawse_gateway.core.settings import FeatureSettings, Option, SettingsError


@dataclass(frozen=True, kw_only=True)
class LogSettings(FeatureSettings):
    """The log format."""

    log_format: Annotated[
        Form,
        Option(
            "--log-format",
            "the format of the startup messages, the gateway's log and its runtimes' logs (text)",
            environment="HAWSE_LOG_FORMAT",
        ),
    ] = "text"

    def check(self) -> None:
        super().check()
        if self.log_format not in FORMS:
            raise SettingsError(f"--log-format {self.log_format}: choose one of {', '.join(FORMS)}")


def configure(*, verbose: bool, form: Form = "text") -> None:
    """Log warnings to stderr. If `verbose` is true, also log messages about connections and sandboxes."""
    logging.basicConfig(level=logging.WARNING, handlers=[handler(form)])
    for name in ("hawse_gateway", "hawse"):
        logging.getLogger(name).setLevel(logging.INFO if verbose else logging.WARNING)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "websockets"):
        logging.getLogger(name).setLevel(logging.WARNING)


def announce(line: str, form: Form) -> None:
    """Print a line for the operator to stdout at startup, whatever the log level. A line that starts with `!` is a
    warning."""
    if form == "json":
        level = logging.WARNING if line.startswith("!") else logging.INFO
        line = JsonLines().format(logging.LogRecord("hawse_gateway", level, "", 0, line.strip(), None, None))
    print(line, flush=True)
