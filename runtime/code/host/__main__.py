"""`python -m runtime.code.host FOLDER PYTHON`: host Jupyter kernels for the runtime at the other end of descriptor 3.

FOLDER is a private directory, and PYTHON is the command that runs a module of this interpreter, as JSON.
"""

import json
import logging
import socket
import sys

import uvloop

from hawse.logs import handler
from runtime.code.host.server import serve

INHERITED = 3  # runtime.posix.spawn.EXTRA_FD


def main() -> None:
    logging.basicConfig(level=logging.WARNING, handlers=[handler("text")])
    uvloop.run(serve(socket.socket(fileno=INHERITED), sys.argv[1], json.loads(sys.argv[2])))


if __name__ == "__main__":
    main()
