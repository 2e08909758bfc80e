"""`python -m hawse_runtime`: serves one sandbox on a Unix socket (or on TCP, with a token) until SIGTERM.

Exit codes: 0 after SIGTERM, 2 for bad arguments, 3 if another runtime uses the same private directory, 4 if programs
can't be separated from the runtime.
"""

import gc

gc.disable()  # imports create no garbage, and looking for it would take a tenth of the startup time

import argparse
import asyncio
import fcntl
import json
import logging
import os
import re
import signal
import socket
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import uvloop

from hawse.api.processes import ProcessStart
from hawse.code_pool import FORM, parse_pools
from hawse.link.sockets import socket_address
from hawse.logs import FORMS, handler
from hawse_runtime import egress
from hawse_runtime.app import running
from hawse_runtime.code.host_protocol import OWN_PYTHON
from hawse_runtime.code.limits import CodeLimits
from hawse_runtime.core.folder import Folder
from hawse_runtime.core.registry import Retention
from hawse_runtime.posix import inner_sandbox, linux, user_separation
from hawse_runtime.posix.spawn import keep_descriptors, spawn_in
from hawse_runtime.settings import RuntimeLimits, RuntimeSettings

if TYPE_CHECKING:
    from ssl import SSLContext

gc.freeze()  # imported objects are never freed; without this, the first collection spends 25 ms on them
gc.enable()

TOKEN_VARIABLE = "HAWSE_RUNTIME_TOKEN"
CERTIFICATE_VARIABLE = "HAWSE_RUNTIME_CERTIFICATE"  # private key and certificate for TCP, as PEM
TOKEN_FILE = "token"  # name of the file in the private directory that contains the token for TCP
LOCK_FILE = "runtime.lock"
BAD_ARGUMENTS = 2
ALREADY_RUNNING = 3
NOT_SEPARATED = 4


def main() -> None:
    args = _arguments()
    logging.basicConfig(level=logging.INFO, handlers=[handler(args.log_format)])
    os.umask(0o022)
    _default_signals()
    keep_descriptors()
    linux.deny_dumps()
    linux.keep_heap_compact()
    token = os.environ.pop(TOKEN_VARIABLE, None)
    certificate = os.environ.pop(CERTIFICATE_VARIABLE, None)
    if args.listen is not None and not token:
        print(f"--listen requires a token in {TOKEN_VARIABLE}", file=sys.stderr)
        sys.exit(BAD_ARGUMENTS)
    context = _context(certificate) if args.listen is not None and certificate else None
    listener = socket.socket(fileno=args.listener) if args.listener is not None else None
    if args.users is not None:
        listener = _become(args)
    private = _private(args)
    if private is not None:
        _lock(private)
        token = _token(private) or token
    proxied = egress.listen(args.egress) if args.egress is not None else None
    if args.socket is not None and listener is None:
        args.socket.unlink(missing_ok=True)  # a killed runtime may have left its socket behind
    inner = _enter(args) if args.inner else None
    if proxied is not None and private is not None:
        _lend(proxied, args, private)
    gc.freeze()
    uvloop.run(_serve(args, token, private, listener, inner, context))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m hawse_runtime", description="Serve one sandbox.")
    _add_connection_options(parser)
    _add_program_options(parser)
    _add_isolation_options(parser)
    _add_limits(parser)
    parser.add_argument("--sandbox", default="local", help="id of the sandbox, shown in the process list")
    parser.add_argument("--id", metavar="ID", type=_runtime_id, help="id of this runtime, 16 hexadecimal digits")
    parser.add_argument("--log-format", choices=FORMS, default="text", help="format of the log on stderr")
    args = parser.parse_args()
    try:
        args.code_pool = parse_pools(args.code_pool)
    except ValueError as error:
        parser.error(f"--code-pool {error}")
    return args


def _add_connection_options(parser: argparse.ArgumentParser) -> None:
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--socket", type=Path, help="path of a Unix socket to create")
    where.add_argument("--listener", type=int, metavar="FD", help="descriptor of an inherited, bound Unix socket")
    parser.add_argument("--ready", type=int, metavar="FD", help="descriptor of a pipe; receives a byte once listening")
    parser.add_argument(
        "--until", type=int, metavar="FD", help="descriptor of a pipe; the runtime exits when the other end is closed"
    )
    where.add_argument(
        "--listen",
        metavar="HOST:PORT",
        type=_address,
        help=f"TCP address; requires a token in {TOKEN_VARIABLE}; accepts a certificate in {CERTIFICATE_VARIABLE}",
    )


def _add_program_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--workspace", type=Path, required=True, help="directory where programs start")
    parser.add_argument(
        "--private",
        type=Path,
        metavar="DIR",
        help="directory for the runtime's private files (default: the socket's directory)",
    )
    parser.add_argument(
        "--python", metavar="JSON", type=json.loads, default=OWN_PYTHON, help="command that runs a Python module"
    )
    parser.add_argument("--root", type=Path, metavar="DIR", help="directory that the file methods are confined to")
    parser.add_argument(
        "--command",
        metavar="JSON",
        type=_command,
        help="program to start first, as parameters of process.start",
    )


def _add_isolation_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--inner", action="store_true", help="run programs in an inner sandbox, separate from the runtime"
    )
    parser.add_argument(
        "--users",
        type=user_separation.Users.parse,
        metavar="RUNTIME:PROGRAMS",
        help="two user ids, in a container; requires --socket, --private, and capabilities CHOWN, SETGID and SETUID",
    )
    parser.add_argument(
        "--wrapper", metavar="JSON", type=json.loads, default=[], help="with --users: command that runs setpriv"
    )
    parser.add_argument(
        "--unknown-peers", action="store_true", help="with --users: the kernel does not identify peers, as in gVisor"
    )
    parser.add_argument("--no-network", action="store_true", help="with --inner: programs have no network interface")
    parser.add_argument("--shared-user", action="store_true", help="with --inner: other sandboxes run as the same user")
    parser.add_argument("--egress", type=int, metavar="PORT", help="port on 127.0.0.1 of the egress proxy")
    for of in ("thread", "programs"):
        option, text = f"--cgroup-of-{of}", f"with --inner: descriptor of a cgroup file that lists its {of}"
        parser.add_argument(option, type=int, metavar="FD", action="append", default=[], help=text)
    parser.add_argument("--oom-kills", type=int, metavar="FD", help="descriptor of the kernel's counter of OOM kills")


def _add_limits(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--quota",
        type=int,
        metavar="BYTES",
        help="maximum number of bytes that the file methods can store in --root, or in the workspace",
    )
    keep = RuntimeLimits().processes
    parser.add_argument(
        "--keep-ended", metavar="N", type=int, default=keep.count, help="number of ended processes to keep"
    )
    parser.add_argument(
        "--keep-seconds", metavar="S", type=float, default=keep.age, help="seconds to keep an ended process"
    )
    parser.add_argument(
        "--max-contexts", metavar="N", type=int, help="maximum number of code contexts per language (default: no limit)"
    )
    parser.add_argument(
        "--terminals-of-each",
        metavar="N",
        type=int,
        help="maximum number of running terminals per user (1024 in total)",
    )
    parser.add_argument(
        "--code-pool",
        metavar=FORM,
        action="append",
        default=[],
        help="number of executors to keep ready for new contexts",
    )


def _runtime_id(text: str) -> str:
    if not re.fullmatch(r"[0-9a-f]{16}", text):
        raise argparse.ArgumentTypeError(f"expected 16 hexadecimal digits, not {text!r}")
    return text


def _command(text: str) -> ProcessStart:
    try:
        return msgspec.json.decode(text, type=ProcessStart)
    except msgspec.MsgspecError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    return host.strip("[]"), int(port)


def _context(certificate: str) -> "SSLContext":
    from hawse_runtime.tls import server_context  # most runtimes listen on a Unix socket, without TLS

    try:
        return server_context(certificate)
    except ValueError as error:
        print(f"{CERTIFICATE_VARIABLE}: {error}", file=sys.stderr)
        sys.exit(BAD_ARGUMENTS)


def _become(args: argparse.Namespace) -> socket.socket:
    """Switch to separate users for the runtime and for programs. Return the listening socket."""
    try:
        thread, listener = user_separation.separate(
            args.users, private=args.private, socket_path=args.socket, workspace=args.workspace
        )
    except OSError as error:
        print(f"cannot separate user code from the runtime: {error}", file=sys.stderr)
        sys.exit(NOT_SEPARATED)
    wrapper = [*args.wrapper, "--reuid", str(args.users.programs), "--"]
    spawn_in(thread, wrapper=wrapper, numbered=False)
    return listener


def _lend(proxied: socket.socket, args: argparse.Namespace, private: Folder) -> None:
    """Pass the egress proxy its listening socket, through a path that programs can't access."""
    if args.users is None:
        egress.lend(proxied, egress.SOCKET_NAME, partial(egress.in_directory, private.descriptor()))
    else:  # the private directory is a volume, which the proxy can't access
        path = args.socket.with_name(egress.SOCKET_NAME)
        egress.lend(proxied, str(path), partial(user_separation.use_files_of_runtime, args.users))


def _default_signals() -> None:
    """Restore the default action of signals ignored due to nohup or a shell's `&`. Programs would inherit it."""
    for signum in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU):
        if signal.getsignal(signum) is signal.SIG_IGN:
            signal.signal(signum, signal.SIG_DFL)


def _private(args: argparse.Namespace) -> Folder | None:
    """Return the directory for the runtime's private files. It must be opened before a mount covers it."""
    path = args.private or (args.socket and args.socket.parent)
    if path is None:
        return None
    return Folder(".", os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC))


def _lock(private: Folder) -> None:
    """Lock the private directory against other runtimes until this process exits."""
    fd = private.open(LOCK_FILE, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("another runtime is using the same private directory", file=sys.stderr)
        sys.exit(ALREADY_RUNNING)


def _token(private: Folder) -> str | None:
    """Return the token that the provider stored for this run, if any."""
    try:
        return private.read(TOKEN_FILE).decode().strip() or None
    except FileNotFoundError:
        return None


def _enter(args: argparse.Namespace) -> inner_sandbox.InnerSandbox:
    options = inner_sandbox.InnerOptions(
        covered=args.private,
        network=not args.no_network,
        cgroups=tuple(args.cgroup_of_thread),
        shared_user=args.shared_user,
    )
    try:
        inner = inner_sandbox.enter(options)
    except OSError as error:
        print(f"cannot separate user code from the runtime: {error}", file=sys.stderr)
        sys.exit(NOT_SEPARATED)
    spawn_in(inner.thread, tuple(args.cgroup_of_programs))
    return inner


def _report(ready: int) -> None:
    """Write a byte to a pipe to signal that the runtime is accepting connections."""
    with suppress(OSError), open(ready, "wb", buffering=0) as pipe:  # the reader may have closed the pipe
        pipe.write(b"1")


def _stop_at_end(loop: asyncio.AbstractEventLoop, pipe: int, stop: asyncio.Event) -> None:
    """Set `stop` once the other end of a pipe is closed. Nothing is ever written to the pipe."""

    def ended() -> None:
        loop.remove_reader(pipe)  # the pipe remains readable and would keep the event loop busy
        stop.set()

    loop.add_reader(pipe, ended)


async def _serve(
    args: argparse.Namespace,
    token: str | None,
    private: Folder | None,
    listener: socket.socket | None,
    inner: inner_sandbox.InnerSandbox | None,
    context: "SSLContext | None",
) -> None:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(signum, stop.set)
    args.workspace.mkdir(parents=True, exist_ok=True)
    if inner is not None:
        loop.add_reader(inner.init, stop.set)  # once the inner sandbox's first process has exited, no program can run
    if args.until is not None:
        _stop_at_end(loop, args.until, stop)
    pool, pools = args.code_pool
    settings = RuntimeSettings(
        workspace=args.workspace,
        id=args.id,
        token=token,
        private=private,
        outside_only=(args.inner or args.users is not None) and not args.unknown_peers,
        root=args.root,
        quota=args.quota,
        oom_kills=args.oom_kills,
        command=args.command,
        python=args.python,
        limits=RuntimeLimits(
            processes=Retention(args.keep_ended, args.keep_seconds),
            terminals_of_each=args.terminals_of_each,
            code=CodeLimits(contexts=args.max_contexts, pool=pool, pools=pools),
        ),
    )
    async with running(settings) as runtime:
        if listener is not None:
            server = await loop.create_unix_server(runtime.server.accept, sock=listener)
        elif args.socket is not None:
            before = os.umask(0o177)  # only this user can connect
            with socket_address(args.socket) as path:
                server = await loop.create_unix_server(runtime.server.accept, path)
            os.umask(before)
        else:
            server = await loop.create_server(runtime.server.accept, *args.listen, ssl=context)
        if args.ready is not None:
            _report(args.ready)
        known = {"runtime": runtime.id, "sandbox": args.sandbox}
        logging.info("= runtime %s of sandbox %s, pid %d", runtime.id, args.sandbox, os.getpid(), extra=known)
        await stop.wait()
        if listener is not None:
            listener.shutdown(socket.SHUT_RDWR)  # needed because other processes have inherited the socket
        server.close()
        if args.socket is not None:
            with suppress(OSError):  # if users are separated, this process may be unable to write to the directory
                args.socket.unlink()


if __name__ == "__main__":
    main()
