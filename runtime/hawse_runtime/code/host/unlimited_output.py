"""Allows kernels written in Python to queue any amount of output, as `ipykernel_setup` does for ipykernel.

A ZeroMQ socket drops published messages while 1,000 are queued (ZMQ_SNDHWM). Kernels for other languages, such as
bash_kernel, have no option to change this. CODE therefore starts their program and modifies the sockets that it
creates.
"""

from collections.abc import Sequence
from pathlib import PurePath

# `python -c CODE MODULE …` is equivalent to `python -m MODULE …`. Errors in CODE must not keep the kernel from
# starting.
CODE = """
import runpy, sys
try:
    import zmq
    make = zmq.Context.socket
    def socket(self, kind, *args, **options):
        made = make(self, kind, *args, **options)
        if kind in (zmq.PUB, zmq.XPUB):
            made.setsockopt(zmq.SNDHWM, 0)
        return made
    zmq.Context.socket = socket
    if sys.argv[1] == "bash_kernel":
        from pexpect.spawnbase import SpawnBase
        begin = SpawnBase.__init__
        def init(self, *args, **options):
            begin(self, *args, **options)
            self.maxread = 65_536  # a terminal gives at most 4,095
            self.searchwindowsize = 2 * self.maxread
            self.delayafterread = None  # it sleeps after each read otherwise
        SpawnBase.__init__ = init
except Exception:
    pass
del sys.argv[0]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


def keeping_output(argv: Sequence[str], language: str) -> list[str]:
    """Return the command with unlimited output. Commands that don't run a Python module are returned unchanged.

    Args:
        argv: The command in the kernel's specification.
        language: The kernel's language. Python is excluded, because CODE would also modify user code's sockets.
    """
    if language.lower() != "python" and PurePath(argv[0]).name.startswith("python") and argv[1:2] == ["-m"]:
        return [argv[0], "-c", CODE, *argv[2:]]
    return list(argv)
