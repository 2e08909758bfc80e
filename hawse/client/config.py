"""Finds the gateway: from options, environment variables or the settings saved by `hawse login`, or on this machine."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

LOCAL_URL: Final = "http://127.0.0.1:8080"  # where `hawse serve` listens by default
LOCAL_NAMES: Final = (LOCAL_URL, LOCAL_URL.replace("127.0.0.1", "localhost"))
LOCAL_STATE: Final = "~/.local/state/hawse"  # where `hawse serve` keeps its token
MODE: Final = 0o600  # permission bits of the file, which contains a token


class ConfigError(Exception):
    """The saved settings cannot be read or written. The message names the file."""


@dataclass(frozen=True)
class Gateway:
    """The address of a gateway and its credentials.

    Attributes:
        url: `http(s)://host[:port]`.
        token: The bearer token; None means no token is sent.
        ca: The file with trusted certificates. None means the system's.
        source: Where the address comes from, for messages.
    """

    url: str
    token: str | None = field(default=None, repr=False)
    source: str = ""
    ca: str | None = None


def config_file() -> Path:
    """Return the path of the file written by `save`, in XDG_CONFIG_HOME or ~/.config."""
    base = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(base).expanduser() / "hawse" / "config.json"


def from_environment() -> Gateway:
    """Return the gateway that `find_gateway` finds from HAWSE_URL, HAWSE_TOKEN and HAWSE_CA.

    Raises:
        ConfigError: The saved settings cannot be read.
    """
    given = [os.environ.get(name) or None for name in ("HAWSE_URL", "HAWSE_TOKEN", "HAWSE_CA")]
    return find_gateway(*given)


def find_gateway(url: str | None, token: str | None, ca: str | None = None) -> Gateway:
    """Return the gateway to use.

    Args:
        url: The address from an option or HAWSE_URL. None means the saved gateway, or the one on this machine.
        token: The token from an option or HAWSE_TOKEN. None means the token saved with the address or, for `LOCAL_URL`,
            the token in the state directory of a gateway on this machine.
        ca: The certificate file from an option or HAWSE_CA. None means the file saved with the address.

    Raises:
        ConfigError: The saved settings cannot be read.
    """
    saved = load()
    if url is None and saved is not None:
        return Gateway(saved.url, token or saved.token, saved.source, ca or saved.ca)
    if url is not None:
        address = url.rstrip("/")
        if saved is not None and saved.url == address:
            ca = ca or saved.ca
            token = saved.token if token is None else token
        elif address in LOCAL_NAMES:
            token = _local_token() if token is None else token
        return Gateway(url, token, "the option --url or HAWSE_URL", ca)
    return Gateway(LOCAL_URL, token or _local_token(), "the default", ca)


def load() -> Gateway | None:
    """Return the saved gateway, if any.

    Raises:
        ConfigError: The file cannot be read or is not in the format written by `save`.
    """
    path = config_file()
    try:
        saved = msgspec.json.decode(path.read_bytes())
        return Gateway(str(saved["url"]), saved.get("token"), str(path), saved.get("ca"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path} is not valid: run `hawse login` again") from error


def save(gateway: Gateway) -> Path:
    """Save the address and the token in a file that only this user can read; return its path.

    Raises:
        ConfigError: The file cannot be written.
    """
    path = config_file()
    part = path.with_suffix(".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        part.unlink(missing_ok=True)
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, MODE), "wb") as file:
            saved = {"url": gateway.url, "token": gateway.token} | ({"ca": gateway.ca} if gateway.ca else {})
            file.write(msgspec.json.encode(saved))
        part.replace(path)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error
    return path


def forget() -> bool:
    """Remove the saved gateway; return whether there was one. Raises `ConfigError`."""
    try:
        config_file().unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise ConfigError(f"{config_file()}: {error.strerror}") from error
    return True


def _local_token() -> str | None:
    """Return the token of the gateway on this machine; None if the token is missing or not readable."""
    state = Path(os.environ.get("HAWSE_STATE") or LOCAL_STATE).expanduser()
    try:
        return (state / "token").read_text("ascii").strip() or None
    except (OSError, UnicodeError):
        return None
