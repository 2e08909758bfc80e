"""`hawse serve`: start a gateway on this machine."""

from importlib import import_module
from pathlib import Path
from typing import Any

import click

from hawse.cli.installation.optional_parts import require_server
from hawse.cli.output import examples

PORT_MAX = 65_535
OIDC = "oidc_"  # starts the names of options of the OpenID provider


@click.command(
    epilog=examples(
        "hawse serve",
        "hawse serve --port 8000 --max-sandboxes 20",
        "hawse serve --provider docker --image python:3.13-slim",
    )
    + "\n\nThe environment variables HAWSE_TOKEN, HAWSE_STATE, HAWSE_LOG_FORMAT and HAWSE_OIDC_CLIENT_SECRET set the "
    "defaults of --token, --state, --log-format and --oidc-client-secret.",
)
@click.option("--host", metavar="ADDRESS", help="the address to listen on (127.0.0.1)")
@click.option("--port", type=click.IntRange(0, PORT_MAX), help="the port to listen on; 0 selects a free one (8080)")
@click.option(
    "--token",
    envvar="HAWSE_TOKEN",
    help="the token that clients send, at least 16 characters (a random one, kept in the state directory)",
)
@click.option(
    "--state",
    type=click.Path(path_type=Path),
    envvar="HAWSE_STATE",
    help="the state directory (~/.local/state/hawse)",
)
@click.option("--provider", metavar="NAME", help="what creates sandboxes: local, docker or kubernetes (local)")
@click.option("--image", metavar="NAME", help="docker: the image of sandboxes that name none (debian:bookworm-slim)")
@click.option(
    "--oci-runtime", metavar="NAME", help="docker: what runs containers, such as runsc (the default of the engine)"
)
@click.option(
    "--kubernetes",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="kubernetes: a TOML file with its settings; runtime_image is required",
)
@click.option(
    "--isolation",
    type=click.Choice(["auto", "bubblewrap", "none"]),
    help="what sandboxes run in; auto: bubblewrap if it works, otherwise none, with a warning (auto)",
)
@click.option(
    "--network",
    type=click.Choice(["none", "private", "host"]),
    help="what programs in isolated sandboxes can connect to; private: only each other; previews work (private)",
)
@click.option(
    "--user-network",
    "user_networks",
    multiple=True,
    type=click.Choice(["none", "private", "filtered", "host"]),
    help="a network that users without every right may choose for their sandboxes; may be repeated (all)",
)
@click.option(
    "--egress",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="a TOML file for filtered networks: secrets, internal networks, addresses of names (none)",
)
@click.option(
    "--tls-cert",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="serve HTTPS with this certificate chain, in PEM; it is read again when it changes (no TLS)",
)
@click.option(
    "--tls-key", type=click.Path(path_type=Path), metavar="FILE", help="the key of the certificate (in its file)"
)
@click.option("--oidc-issuer", metavar="URL", help="the OpenID provider that users sign in with (none)")
@click.option("--oidc-client-id", metavar="ID", help="this gateway at the provider: users sign in with the browser")
@click.option(
    "--oidc-client-secret",
    envvar="HAWSE_OIDC_CLIENT_SECRET",
    metavar="SECRET",
    help="its secret there; none: a public client",
)
@click.option("--oidc-audience", metavar="TEXT", help="accept JSON Web Tokens of the provider for this audience (none)")
@click.option(
    "--oidc-role",
    "oidc_roles",
    multiple=True,
    metavar="VALUE=ROLE",
    help="the role of users with VALUE in their groups; *: of all; VALUE=own:ROLE: in their own sandboxes; may be "
    "repeated",
)
@click.option("--oidc-role-claim", metavar="CLAIM", help="the claim that --oidc-role is compared with (groups)")
@click.option("--oidc-user-claim", metavar="CLAIM", help="the claim that is the id of the user (sub)")
@click.option("--oidc-lifetime", type=float, metavar="SECONDS", help="after which a user has to sign in again (43200)")
@click.option(
    "--oidc-ca", type=click.Path(path_type=Path), metavar="FILE", help="the certificates to trust for the provider"
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="another name that the gateway is reached by; may be repeated",
)
@click.option(
    "--allow-origin",
    "origins",
    multiple=True,
    metavar="ORIGIN",
    help="another origin whose pages may connect; may be repeated",
)
@click.option(
    "--trust-proxy",
    "proxies",
    multiple=True,
    metavar="ADDRESS",
    help="IP address or network of a proxy that sets X-Forwarded-For and X-Forwarded-Proto; may be repeated",
)
@click.option(
    "--proxy-headers",
    type=click.Choice(["x-forwarded", "forwarded"]),
    help="forwarded: the proxies set Forwarded (RFC 7239) instead (x-forwarded)",
)
@click.option(
    "--proxy-user-header",
    metavar="NAME",
    help="the header in which the proxies name the user, whom they authenticate (none)",
)
@click.option("--proxy-groups-header", metavar="NAME", help="the header with the user's groups (none)")
@click.option(
    "--proxy-role",
    "proxy_roles",
    multiple=True,
    metavar="GROUP=ROLE",
    help="the role of these users in GROUP, as for --oidc-role; may be repeated",
)
@click.option(
    "--preview-host",
    metavar="NAME",
    help="previews are at PORT-SANDBOX-TOKEN.NAME; all names below NAME must resolve to the gateway (localhost)",
)
@click.option(
    "--tunnel-ports",
    metavar="FIRST-LAST",
    help="the ports that TCP tunnels may have, such as 20000-20099 or 0.0.0.0:20000-20099 (none)",
)
@click.option(
    "--tunnel-tls-port",
    metavar="PORT",
    help="the port of TLS tunnels, at which clients ask for a name below --preview-host (none)",
)
@click.option(
    "--tunnel-host", metavar="NAME", help="the name or address by which others reach TCP tunnels (that of the gateway)"
)
@click.option(
    "--tunnel-cloudflared",
    is_flag=True,
    help="let tunnels have addresses of Cloudflare, without an account; needs the program cloudflared (no)",
)
@click.option(
    "--tunnel-ssh",
    metavar="SERVER",
    help="let TCP tunnels have ports of an SSH server, such as user@gw.example.org; needs the program ssh (none)",
)
@click.option("--max-connections", type=int, metavar="N", help="how many clients may be connected (1024)")
@click.option(
    "--calls-per-second", type=int, metavar="N", help="how many calls a user without every right may make (500)"
)
@click.option(
    "--limit",
    multiple=True,
    metavar="WHO:WHAT=N",
    help="a limit of each user, link or address: connections, terminals, calls or bytes (a second), or sandboxes, "
    "tunnels, backups or storage (bytes of backups) of each user, such as link:bytes=2M; may be repeated (calls only)",
)
@click.option(
    "--wrong-tokens", type=int, metavar="N", help="how many wrong tokens an address may send before it must wait (100)"
)
@click.option(
    "--max-sandboxes", type=int, metavar="N", help="how many sandboxes may run (as there is memory and disk for)"
)
@click.option(
    "--store",
    metavar="URL",
    help="a Redis server that several gateways share, redis://HOST:6379/0 or redis+sentinel://HOST/NAME/0 (SQLite "
    "in the state directory)",
)
@click.option(
    "--mounts",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="the buckets and directories that may be mounted in sandboxes, in TOML (none)",
)
@click.option(
    "--backups",
    metavar="PLACE",
    help="where backups are stored: a directory, or s3://BUCKET/PREFIX (backups in the state directory)",
)
@click.option("--backups-size", type=int, metavar="BYTES", help="how much all backups may have together (100 GiB)")
@click.option(
    "--overlays-size", type=int, metavar="BYTES", help="how much the images of backups for overlays may have (20 GiB)"
)
@click.option("--pool", type=int, metavar="N", help="how many sandboxes are started in advance (0)")
@click.option(
    "--templates", type=click.Path(path_type=Path), metavar="FILE", help="named settings of sandboxes, in TOML (none)"
)
@click.option(
    "--idle-timeout",
    type=float,
    metavar="SECONDS",
    help="without activity after which a sandbox sleeps, unless its creation says another time (600)",
)
@click.option(
    "--start-timeout",
    type=float,
    metavar="SECONDS",
    help="until the runtime of a sandbox that is started accepts connections (local: 9, docker: 30, kubernetes: 300)",
)
@click.option("--quota", type=int, metavar="BYTES", help="how much the API may leave in a workspace (unlimited)")
@click.option("--max-contexts", type=int, metavar="N", help="code contexts of each language in a sandbox (unlimited)")
@click.option(
    "--code-pool",
    multiple=True,
    metavar="TEXT",
    help="executors that wait for a code context in each sandbox: [LANGUAGE:]size=N,idle=SECONDS,memory=BYTES; may be "
    "repeated (size=2,idle=600,memory=512M)",
)
@click.option(
    "--otel",
    is_flag=True,
    help="export a span of each call with OpenTelemetry, as its environment variables (OTEL_*) say",
)
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    envvar="HAWSE_LOG_FORMAT",
    help="the format of the logs of the gateway and its runtimes, on stderr (text)",
)
@click.option("-v", "--verbose", is_flag=True, help="log connections and sandboxes")
def serve(verbose: bool, **options: Any) -> int:
    """Start a gateway on this machine and print the address to open."""
    # The gateway is imported here, since other sub-commands do not need it. An option that is not given keeps the
    # default of `hawse_gateway.settings.Settings`.
    require_server("hawse serve")
    server = import_module("hawse_gateway.server")
    settings = import_module("hawse_gateway.settings")
    given = {name: value for name, value in options.items() if value not in (None, ()) and value is not False}
    oidc = {name.removeprefix(OIDC): given.pop(name) for name in list(given) if name.startswith(OIDC)}
    if oidc:
        given["oidc"] = settings.OidcSettings(**oidc)
    code: int = server.serve(settings.Settings(**given), verbose=verbose)
    return code
