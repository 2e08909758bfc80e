"""nginx, Caddy and HAProxy with the configurations of docs/reverse-proxy/.

Only what an operator has to replace is replaced: certificate, key and addresses.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from e2e.apps.conftest import ROOT

DOCUMENTED = ROOT / "docs" / "reverse-proxy"
KINDS = {"nginx": "nginx.conf", "caddy": "Caddyfile", "haproxy": "haproxy.cfg"}
NAME, PREVIEWS = "hawse.example.org", "preview.example.org"
OPTIONS = ["--allow-host", NAME, "--preview-host", PREVIEWS, "--trust-proxy", "127.0.0.1"]
NGINX = """
daemon off;
pid {folder}/pid;
error_log stderr;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/hawse.conf;
}}
"""
CADDY = """
{{
    admin off
    auto_https disable_redirects
    https_port {port}
    storage file_system {folder}/storage
}}
import {folder}/hawse.conf
"""


def _replaced(text: str, changes: dict[str, str]) -> str:
    """Replace each key by its value. A key that does not occur is an error."""
    for old, new in changes.items():
        assert old in text, f"the documented configuration lacks {old!r}"
        text = text.replace(old, new)
    return text


def configure(
    kind: str, folder: Path, port: int, gateways: Sequence[int], *, silence: int | None = None, name: str = NAME
) -> list[str]:
    """Write the configuration of a proxy, and return the command that runs it.

    Args:
        kind: A key of `KINDS`.
        folder: For its files, with those of `make_certificates`.
        port: The port that it listens on.
        gateways: The ports of the gateways.
        silence: Seconds of silence after which it closes a connection; None: as documented.
        name: The name of the gateways.
    """
    changes, main = _CHANGES[kind](folder, port, gateways, silence)
    (folder / "both.pem").write_bytes((folder / "cert.pem").read_bytes() + (folder / "key.pem").read_bytes())
    text = _replaced((DOCUMENTED / KINDS[kind]).read_text(), changes | {NAME: name})
    (folder / "hawse.conf").write_text(text)
    (folder / "main.conf").write_text(main)
    return [word.format(folder=folder) for word in COMMANDS[kind]]


COMMANDS = {
    "nginx": ["nginx", "-e", "stderr", "-p", "{folder}", "-c", "{folder}/main.conf"],
    "caddy": ["caddy", "run", "--adapter", "caddyfile", "--config", "{folder}/main.conf"],
    "haproxy": ["haproxy", "-db", "-f", "{folder}/hawse.conf"],
}


def _nginx(folder: Path, port: int, gateways: Sequence[int], silence: int | None) -> tuple[dict[str, str], str]:
    changes = {
        **_certificate(folder),
        "listen 443": f"listen 127.0.0.1:{port}",
        "server 127.0.0.1:8080 max_fails=0;": "\n".join(f"server 127.0.0.1:{each} max_fails=0;" for each in gateways),
    }
    if silence is not None:
        changes["proxy_read_timeout 1h"] = f"proxy_read_timeout {silence}s"
    return changes, NGINX.format(folder=folder)


def _caddy(folder: Path, port: int, gateways: Sequence[int], silence: int | None) -> tuple[dict[str, str], str]:
    changes = {**_certificate(folder), "127.0.0.1:8080": " ".join(f"127.0.0.1:{each}" for each in gateways)}
    if silence is not None:
        changes["flush_interval -1"] = f"flush_interval -1\ntransport http {{\nread_timeout {silence}s\n}}"
    return changes, CADDY.format(folder=folder, port=port)


def _haproxy(folder: Path, port: int, gateways: Sequence[int], silence: int | None) -> tuple[dict[str, str], str]:
    changes = {
        "/etc/ssl/hawse/both.pem": str(folder / "both.pem"),
        "bind :443": f"bind 127.0.0.1:{port}",
        "server one 127.0.0.1:8080": "\n".join(f"server g{each} 127.0.0.1:{each}" for each in gateways),
    }
    if silence is not None:
        changes["timeout tunnel 1h"] = f"timeout tunnel {silence}s"
    return changes, ""


_CHANGES = {"nginx": _nginx, "caddy": _caddy, "haproxy": _haproxy}


def _certificate(folder: Path) -> dict[str, str]:
    return {"/etc/ssl/hawse/cert.pem": str(folder / "cert.pem"), "/etc/ssl/hawse/key.pem": str(folder / "key.pem")}


async def _run(*command: str | Path) -> None:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*map(str, command), stdout=pipe, stderr=asyncio.subprocess.STDOUT)
    printed, _ = await process.communicate()
    assert process.returncode == 0, printed.decode()


async def make_certificates(folder: Path) -> None:
    """Make an authority (ca.pem) and a certificate for the documented names; let Chromium trust the authority."""
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30"]
    constraints = ["-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign"]
    subject = ["-subj", "/CN=hawse tests"]
    await _run(
        "openssl", "req", "-x509", *key, *subject, *constraints, "-keyout", folder / "ca.key", "-out", folder / "ca.pem"
    )
    await _run(
        "openssl", "req", "-x509", *key, "-subj", f"/CN={NAME}", "-CA", folder / "ca.pem", "-CAkey", folder / "ca.key",
        "-addext", "basicConstraints=critical,CA:FALSE",
        "-addext", f"subjectAltName=DNS:{NAME},DNS:*.{PREVIEWS},DNS:localhost",
        "-keyout", folder / "key.pem", "-out", folder / "cert.pem",
    )  # fmt: skip
    database = Path.home() / ".pki" / "nssdb"  # HOME is the tests' own
    if not database.exists():
        database.mkdir(parents=True)
        await _run("certutil", "-N", "-d", f"sql:{database}", "--empty-password")
    await _run("certutil", "-A", "-d", f"sql:{database}", "-n", str(folder), "-t", "C,,", "-i", folder / "ca.pem")
