"""Lets kernels that are Python programs keep all output that waits to be sent, as `ipykernel_setup` does for ipykernel.

A socket of ZeroMQ drops what is published while 1,000 messages wait (ZMQ_SNDHWM). The kernel of another language, such
as bash_kernel, cannot be asked to change this. So its program is started by CODE, which changes the
sockets that it makes.
"""

from collections.abc import Sequence
from pathlib import PurePath

# `python -c CODE MODULE …` does what `python -m MODULE …` does. An error must not prevent the start of the kernel.
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
    """Return the command of a kernel whose output has no limit; the same if it is not the module of a Python program.

    Args:
        argv: The command of its specification.
        language: Its language. Python is excluded, because CODE would change the sockets of user code too.
    """
    if language.lower() != "python" and PurePath(argv[0]).name.startswith("python") and argv[1:2] == ["-m"]:
        return [argv[0], "-c", CODE, *argv[2:]]
    return list(argv)
