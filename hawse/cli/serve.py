"""`hawse serve`: start a gateway on this machine."""

import argparse
import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

PORTS = range(65_536)


def add_parser(commands: "Commands") -> None:
    parser = commands.add_parser(
        "serve",
        help="start a gateway on this machine",
        description="Start a gateway on this machine and print the address to open.",
        epilog="Environment: HAWSE_TOKEN, HAWSE_STATE, HAWSE_LOG_FORMAT stand for --token, --state, --log-format.",
    )
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (%(default)s)")
    parser.add_argument("--port", type=_port, default=8080, help="the port; 0 picks a free one (%(default)s)")
    parser.add_argument("--token", help="what clients have to know (one is made up and kept in the state directory)")
    parser.add_argument("--state", type=Path, help="the state directory (~/.local/state/hawse)")
    parser.add_argument("--provider", default="local", metavar="NAME", help="what creates sandboxes (%(default)s)")
    parser.add_argument(
        "--isolation",
        choices=["auto", "bubblewrap", "none"],
        default="auto",
        help="what sandboxes run in; auto takes bubblewrap where it works and says so where it does not",
    )
    parser.add_argument(
        "--allow-host", action="append", default=[], metavar="NAME", help="a name that the gateway is reached by"
    )
    parser.add_argument(
        "--allow-origin", action="append", default=[], metavar="ORIGIN", help="pages that may call, beside our own"
    )
    parser.add_argument(
        "--preview-host",
        default="localhost",
        metavar="NAME",
        help="previews are at PORT-SANDBOX-TOKEN.NAME; all names below it have to lead here (%(default)s)",
    )
    parser.add_argument("--max-connections", type=int, default=1024, metavar="N", help="clients at once (%(default)s)")
    parser.add_argument(
        "--quota", type=int, metavar="BYTES", help="how much may be in a workspace, for what writes files from here"
    )
    parser.add_argument(
        "--log-format", choices=["text", "json"], help="of what is logged to stderr, and by runtimes (text)"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="log what comes and goes")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """The gateway is loaded here and not before: who calls `hawse` from a script may have no need of it."""
    server = import_module("gateway.server")
    settings = import_module("gateway.settings")
    state = arguments.state or Path(os.environ.get("HAWSE_STATE") or settings.DEFAULT_STATE)
    code: int = server.serve(
        settings.Settings(
            state=state,
            host=arguments.host,
            port=arguments.port,
            token=arguments.token or os.environ.get("HAWSE_TOKEN") or None,
            provider=arguments.provider,
            isolation=arguments.isolation,
            hosts=arguments.allow_host,
            origins=arguments.allow_origin,
            preview_host=arguments.preview_host,
            max_connections=arguments.max_connections,
            quota=arguments.quota,
            log_format=arguments.log_format or os.environ.get("HAWSE_LOG_FORMAT") or "text",
        ),
        verbose=arguments.verbose,
    )
    return code


def _port(text: str) -> int:
    port = int(text)
    if port not in PORTS:
        raise argparse.ArgumentTypeError(f"a port is 0 to {PORTS[-1]}")
    return port
