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
    """Add `serve`. The destination of each option is a field of `gateway.settings.Settings`, which has the defaults."""
    parser = commands.add_parser(
        "serve",
        help="start a gateway on this machine",
        description="Start a gateway on this machine and print the address to open.",
        epilog="The environment variables HAWSE_TOKEN, HAWSE_STATE and HAWSE_LOG_FORMAT set the defaults of --token, "
        "--state and --log-format.",
        argument_default=argparse.SUPPRESS,
    )
    parser.add_argument("--host", help="the address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=_port, help="the port to listen on; 0 selects a free one (8080)")
    parser.add_argument(
        "--token",
        default=os.environ.get("HAWSE_TOKEN") or argparse.SUPPRESS,
        help="the token that clients send, at least 16 characters (a random one, kept in the state directory)",
    )
    parser.add_argument(
        "--state",
        type=Path,
        default=os.environ.get("HAWSE_STATE") or argparse.SUPPRESS,
        help="the state directory (~/.local/state/hawse)",
    )
    parser.add_argument("--provider", metavar="NAME", help="what creates sandboxes (local)")
    parser.add_argument(
        "--isolation",
        choices=["auto", "bubblewrap", "none"],
        help="what sandboxes run in; auto: bubblewrap if it works, otherwise none, with a warning (auto)",
    )
    parser.add_argument(
        "--allow-host",
        dest="hosts",
        action="append",
        metavar="NAME",
        help="another name that the gateway is reached by; may be repeated",
    )
    parser.add_argument(
        "--allow-origin",
        dest="origins",
        action="append",
        metavar="ORIGIN",
        help="another origin whose pages may connect; may be repeated",
    )
    parser.add_argument(
        "--preview-host",
        metavar="NAME",
        help="previews are at PORT-SANDBOX-TOKEN.NAME; all names below NAME must resolve to the gateway (localhost)",
    )
    parser.add_argument("--max-connections", type=int, metavar="N", help="how many clients may be connected (1024)")
    parser.add_argument(
        "--quota", type=int, metavar="BYTES", help="how much the API may leave in a workspace (unlimited)"
    )
    parser.add_argument(
        "--log-format",
        choices=["text", "json"],
        default=os.environ.get("HAWSE_LOG_FORMAT") or argparse.SUPPRESS,
        help="the format of the logs of the gateway and its runtimes, on stderr (text)",
    )
    parser.add_argument("-v", "--verbose", action="store_true", default=False, help="log connections and sandboxes")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Start the gateway. It is imported here, since other sub-commands do not need it."""
    server = import_module("gateway.server")
    settings = import_module("gateway.settings")
    options = {name: value for name, value in vars(arguments).items() if name not in ("run", "verbose")}
    code: int = server.serve(settings.Settings(**options), verbose=arguments.verbose)
    return code


def _port(text: str) -> int:
    port = int(text)
    if port not in PORTS:
        raise argparse.ArgumentTypeError(f"the port must be 0 to {PORTS[-1]}, not {port}")
    return port
