"""`python -m runtime`: serve one sandbox on a Unix socket (or TCP with a token) until TERM.

Exit codes: 0 asked to stop, 2 bad arguments, 3 another runtime serves this socket.
"""

import argparse
import asyncio
import ctypes
import fcntl
import gc
import logging
import os
import signal
import sys
from pathlib import Path

import uvloop

from hawse.logs import FORMS, handler
from runtime.app import running
from runtime.core.registry import Retention
from runtime.posix.spawn import keep_descriptors
from runtime.settings import RuntimeLimits, RuntimeSettings

TOKEN_VARIABLE = "HAWSE_RUNTIME_TOKEN"
BAD_ARGUMENTS = 2
ALREADY_RUNNING = 3
PR_SET_DUMPABLE = 4


def main() -> None:
    args = _arguments()
    logging.basicConfig(level=logging.INFO, handlers=[handler(args.log_format)])
    os.umask(0o022)
    _default_signals()
    keep_descriptors()
    _keep_secret()
    token = os.environ.pop(TOKEN_VARIABLE, None)
    if args.listen is not None and not token:
        print(f"--listen needs a token in {TOKEN_VARIABLE}", file=sys.stderr)
        sys.exit(BAD_ARGUMENTS)
    if args.socket is not None:
        _lock(args.socket)
    gc.freeze()
    uvloop.run(_serve(args, token))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="runtime", description="Serve one sandbox.")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--socket", type=Path, help="a Unix socket to make")
    where.add_argument(
        "--listen", metavar="HOST:PORT", type=_address, help=f"a TCP address; the token is in {TOKEN_VARIABLE}"
    )
    parser.add_argument("--workspace", type=Path, required=True, help="the directory programs start in")
    parser.add_argument("--root", type=Path, metavar="DIR", help="a directory that the file methods do not leave")
    parser.add_argument("--quota", type=int, metavar="BYTES", help="how much they may leave in it, or in the workspace")
    parser.add_argument("--sandbox", default="local", help="the sandbox's id, for the process list")
    parser.add_argument("--log-format", choices=FORMS, default="text", help="of what is logged to stderr")
    keep = RuntimeLimits().processes
    parser.add_argument(
        "--keep-ended", metavar="N", type=int, default=keep.count, help="processes that have ended and are kept"
    )
    parser.add_argument("--keep-seconds", metavar="S", type=float, default=keep.age, help="and for how long")
    return parser.parse_args()


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    return host.strip("[]"), int(port)


def _default_signals() -> None:
    """Undo what a shell's `&` or nohup left ignored, so that what we start does not inherit it."""
    for signum in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU):
        if signal.getsignal(signum) is signal.SIG_IGN:
            signal.signal(signum, signal.SIG_DFL)


def _keep_secret() -> None:
    """Deny other processes of the same user access to this process' memory and initial environment (prctl(2))."""
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0)


def _lock(socket: Path) -> None:
    """Be the only runtime of this socket, for as long as the process lives."""
    fd = os.open(f"{socket}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print(f"another runtime serves {socket}", file=sys.stderr)
        sys.exit(ALREADY_RUNNING)
    socket.unlink(missing_ok=True)  # left by one that was killed


async def _serve(args: argparse.Namespace, token: str | None) -> None:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(signum, stop.set)
    args.workspace.mkdir(parents=True, exist_ok=True)
    state = args.socket.parent if args.socket is not None else None
    settings = RuntimeSettings(
        workspace=args.workspace,
        token=token,
        recordings=state and state / "recordings",
        spill=state and state / "spill",
        id_file=args.socket and args.socket.with_name(f"{args.socket.name}.id"),
        root=args.root,
        quota=args.quota,
        limits=RuntimeLimits(processes=Retention(args.keep_ended, args.keep_seconds)),
    )
    async with running(settings) as runtime:
        if args.socket is not None:
            before = os.umask(0o177)  # only we may connect
            server = await loop.create_unix_server(runtime.server.accept, str(args.socket))
            os.umask(before)
        else:
            server = await loop.create_server(runtime.server.accept, *args.listen)
        known = {"runtime": runtime.id, "sandbox": args.sandbox}
        logging.info("= runtime %s of sandbox %s, pid %d", runtime.id, args.sandbox, os.getpid(), extra=known)
        await stop.wait()
        server.close()
        if args.socket is not None:
            args.socket.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
