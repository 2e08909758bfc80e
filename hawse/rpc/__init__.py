"""Runs calls on a server: accepts links, dispatches calls, enforces deadlines, and sends results, errors and output
streams.

Both the runtime and the gateway use this package. The dispatcher does not depend on a transport; a call is an object
that accepts a result or an error.
"""

from hawse.rpc.dispatcher import Dispatcher, handles, serves
from hawse.rpc.errors import from_oserror, subject_of, typed
from hawse.rpc.idempotency import IdempotencyTable, Outcome, fingerprint

__all__ = [
    "Dispatcher",
    "IdempotencyTable",
    "Outcome",
    "fingerprint",
    "from_oserror",
    "handles",
    "serves",
    "subject_of",
    "typed",
]
