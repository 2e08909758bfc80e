"""`python -m hawse_runtime.code.host FOLDER PYTHON`: host kernels for the runtime at the other end of descriptor 3.

FOLDER is a private directory, and PYTHON is the command that runs a module of this interpreter, as JSON.
"""

import json
import logging
import os
import socket
import sys
from contextlib import suppress

import uvloop

from hawse.logs import handler
from hawse_runtime.code.host.server import serve

INHERITED = 3  # hawse_runtime.posix.spawn.EXTRA_FD
NICENESS = 5  # of this process and the kernels: on a busy core, a terminal's program gets about three times their share


def main() -> None:
    _run_behind_terminals()
    logging.basicConfig(level=logging.WARNING, handlers=[handler("text")])
    uvloop.run(serve(socket.socket(fileno=INHERITED), sys.argv[1], json.loads(sys.argv[2])))


def _run_behind_terminals() -> None:
    """Lower the priority of this process and its kernels, so that their output delays the echo of terminals less."""
    with suppress(OSError):  # gVisor has no scheduling policies
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))  # it does not preempt others when it wakes up
    os.nice(NICENESS)


if __name__ == "__main__":
    main()
