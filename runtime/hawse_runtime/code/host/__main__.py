"""`python -m hawse_runtime.code.host FOLDER PYTHON`: hosts kernels for the runtime, connected through descriptor 3.

FOLDER is a private directory. PYTHON is the command for running a Python module, as JSON.
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
NICENESS = 5  # for this process and the kernels; on a busy core, terminal programs get about three times the CPU time


def main() -> None:
    _run_behind_terminals()
    logging.basicConfig(level=logging.WARNING, handlers=[handler("text")])
    uvloop.run(serve(socket.socket(fileno=INHERITED), sys.argv[1], json.loads(sys.argv[2])))


def _run_behind_terminals() -> None:
    """Lower the priority of this process and its kernels, so that their output delays terminal echo less."""
    with suppress(OSError):  # gVisor has no scheduling policies
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))  # a process that wakes up doesn't preempt others
    os.nice(NICENESS)


if __name__ == "__main__":
    main()
