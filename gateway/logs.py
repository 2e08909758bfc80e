"""Logging: one terse line an event, with a direction mark: `<` in, `>` out, `=` state, `!` trouble.

No payload, token or ticket is ever logged. uvicorn's own lines hold addresses with their tickets, so only its
warnings are let through.
"""

import logging
import sys

FORMAT = "%(asctime)s %(name)s %(message)s"


def configure(*, verbose: bool) -> None:
    """Log to stderr: warnings, and with `verbose` who comes and goes."""
    logging.basicConfig(level=logging.WARNING, format=FORMAT, stream=sys.stderr)
    for name in ("gateway", "hawse"):
        logging.getLogger(name).setLevel(logging.INFO if verbose else logging.WARNING)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "websockets"):
        logging.getLogger(name).setLevel(logging.WARNING)
