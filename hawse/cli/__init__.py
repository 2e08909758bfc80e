"""The `hawse` command."""

import gc
import os
import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 if it succeeded, 2 if its options are invalid.

    Without `argv`, as when the program starts, a signal that ends the command also ends the process.
    """
    open_closed_streams()
    gc.disable()  # loading modules creates no garbage; hawse.cli.command enables collection afterwards
    try:
        from hawse.cli.command import main as run
        from hawse.cli.signals import handled

        with handled(reraised=argv is None):
            return run(argv)
    except KeyboardInterrupt:
        return 130
    finally:
        gc.enable()


def open_closed_streams() -> None:
    """Open /dev/null in place of closed standard streams, such as after `<&-` in a shell.

    Otherwise, the next files or sockets opened would get the streams' descriptors. A closed standard input becomes
    empty. Closed output streams remain None in `sys`, so printing to them is an error.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is not None:
            continue
        null = os.open(os.devnull, os.O_RDONLY)
        if null != number:
            os.dup2(null, number)
            os.close(null)
        if number == 0:
            sys.stdin = open(number, closefd=False)  # noqa: SIM115  # for as long as the process lives
