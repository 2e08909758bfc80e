"""Logging: one line per event, with a direction mark: `<` in, `>` out, `=` state, `!` error.

Payloads, tokens and tickets are never logged. uvicorn logs URLs, which contain tickets, so only its warnings are
enabled.
"""

import logging

from hawse.logs import Form, handler


def configure(*, verbose: bool, form: Form = "text") -> None:
    """Log warnings to stderr. `verbose` enables messages about connections and sandboxes."""
    logging.basicConfig(level=logging.WARNING, handlers=[handler(form)])
    for name in ("hawse_gateway", "hawse"):
        logging.getLogger(name).setLevel(logging.INFO if verbose else logging.WARNING)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "websockets"):
        logging.getLogger(name).setLevel(logging.WARNING)
