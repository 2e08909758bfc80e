"""Validates git arguments. A name must not be an option; a URL must not run a program or contain a secret."""

import re
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from hawse.api.git import GitCredentials
from hawse.api.paths import from_text
from hawse.wire import HawseError

SCHEMES = ("http", "https", "ssh", "git", "file")  # other schemes, such as `ext::`, run programs

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_REMOTE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*")
_SCP = re.compile(r"(?:[A-Za-z0-9_.][A-Za-z0-9_.+-]*@)?[A-Za-z0-9\[][A-Za-z0-9.:\]_-]*:(?!:)(?!//)[^\s]+")
# Names forbidden by git-check-ref-format(1), and names that would be parsed as options.
_NOT_IN_NAMES = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|$)|[/.]$|^@$|^[-+/.]|^HEAD$")


class CloneSource(NamedTuple):
    """A URL without credentials, along with the credentials removed from it."""

    url: str
    credentials: GitCredentials | None


def source(url: str, credentials: GitCredentials | None) -> CloneSource:
    """Validate the URL to clone. Raises `invalid_params`."""
    if _CONTROL.search(url) or url.startswith("-"):
        raise _invalid("the URL must not start with `-` or contain control characters", "$.url")
    scheme, separator, rest = url.partition("://")
    if not separator:
        if re.match(r"[A-Za-z0-9+.-]+::", url) or not (url.startswith("/") or _SCP.fullmatch(url)):
            raise _invalid("`url` must be a URL, host:path or an absolute path", "$.url")
        _no_web(credentials)
        return CloneSource(url, None)
    if scheme not in SCHEMES:
        raise _invalid(f"unsupported scheme {scheme!r}: expected one of {', '.join(SCHEMES)}", "$.url")
    if rest.startswith("-") or (scheme != "file" and not rest.strip("/")):
        raise _invalid("the URL has no valid host", "$.url")
    if scheme not in ("http", "https"):
        _no_web(credentials)
        return CloneSource(url, None)
    return _web(url, credentials)


def _web(url: str, credentials: GitCredentials | None) -> CloneSource:
    """Return the URL without user and password, which git would otherwise store in the repository's configuration."""
    try:
        parts = urlsplit(url)
        user, password = parts.username, parts.password
        _ = parts.port
    except ValueError as error:
        raise _invalid(f"invalid URL: {error}", "$.url") from None
    host = parts.netloc.rpartition("@")[2]
    if not re.fullmatch(r"[A-Za-z0-9\[][A-Za-z0-9.:\]_-]*", host):
        raise _invalid("the URL has no valid host", "$.url")
    if user is not None and credentials is None:
        credentials = GitCredentials(username=unquote(user), password=unquote(password or ""))
    return CloneSource(urlunsplit(parts._replace(netloc=host)), checked(credentials))


def scope(url: str) -> str:
    """Return an http(s) URL's scheme, host and port: the scope for credentials. Other URLs raise `invalid_params`."""
    scheme, _, rest = url.partition("://")
    host = rest.partition("/")[0].rpartition("@")[2]
    if scheme not in ("http", "https") or not re.fullmatch(r"[A-Za-z0-9\[][A-Za-z0-9.:\]_-]*", host):
        raise _invalid("credentials require an http or https URL", "$.credentials")
    return f"{scheme}://{host}"


def checked(credentials: GitCredentials | None) -> GitCredentials | None:
    """Validate credentials. Raises `invalid_params` if they contain a control character."""
    if credentials is not None and _CONTROL.search(credentials.username + credentials.password):
        raise _invalid("the credentials contain a control character", "$.credentials")
    return credentials


def directory_of(url: str) -> str:
    """Return a clone's default directory name: the last part of the URL. Raises `invalid_params` if that is empty."""
    name = re.split(r"[/:]", url.rstrip("/").removesuffix("/.git"))[-1].removesuffix(".git")
    if name in ("", ".", "..") or name.startswith("-"):
        raise _invalid("`path` is required, because the URL does not end with a name", "$.path")
    return name


def branch(name: str, field: str) -> str:
    """Validate a branch name. `field` is the parameter's JSON path, for the error. Raises `invalid_params`."""
    if _NOT_IN_NAMES.search(name):
        raise _invalid(f"{name!r} is not a valid branch name", field)
    return name


def remote(name: str) -> str:
    """Validate a remote's name. Raises `invalid_params`."""
    if not _REMOTE.fullmatch(name):
        raise _invalid(f"{name!r} is not a valid remote name", "$.remote")
    return name


def revision(text: str, field: str) -> str:
    """Validate a revision, which must not look like an option. Raises `invalid_params`."""
    if text.startswith("-") or _CONTROL.search(text):
        raise _invalid(f"{text!r} is not a valid revision", field)
    return text


def paths(texts: list[str] | None) -> list[str]:
    """Return the argument `--`, followed by the paths. Raises `invalid_params`."""
    try:
        found = [from_text(text) for text in texts or ()]
    except ValueError as error:
        raise _invalid(str(error), "$.paths") from None
    return ["--", *found]


def redacted(text: str, credentials: GitCredentials | None) -> str:
    """Return the text with users and passwords removed from URLs and with `***` in place of the credentials."""
    text = re.sub(r"([A-Za-z][A-Za-z0-9+.-]*://)[^/\s'\"]*@", r"\1", text)
    if credentials is not None:
        secret = credentials.password or credentials.username
        for form in {secret, quote(secret, safe="")} - {""}:
            text = text.replace(form, "***")
    return text


def _no_web(credentials: GitCredentials | None) -> None:
    if credentials is not None:
        raise _invalid("credentials require an http or https URL", "$.credentials")


def _invalid(message: str, field: str) -> HawseError:
    return HawseError("invalid_params", message, details={"path": field})
