"""Logging: one terse line an event, with a direction mark: `<` in, `>` out, `=` state, `!` trouble.

No payload, token or ticket is ever logged. uvicorn's own lines hold addresses with their tickets, so only its
warnings are let through.
"""

import logging

from hawse.logs import Form, handler


def configure(*, verbose: bool, form: Form = "text") -> None:
    """Log to stderr: warnings, and with `verbose` who comes and goes."""
    logging.basicConfig(level=logging.WARNING, handlers=[handler(form)])
    for name in ("gateway", "hawse"):
        logging.getLogger(name).setLevel(logging.INFO if verbose else logging.WARNING)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "websockets"):
        logging.getLogger(name).setLevel(logging.WARNING)
