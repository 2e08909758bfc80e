"""The operator's mount settings, from the TOML file given with `hawse serve --mounts FILE`."""

import os
import re
import urllib.parse
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from hawse.api.mounts import MountCredentials
from hawse.api.rights import ALL
from hawse.api.types import Id
from hawse.wire import HawseError, Principal
from hawse_gateway.core.settings import FeatureSettings, Option, SettingsError

EVERYBODY: Final = "*"
SECRET_MAX: Final = 4096  # maximum length of a credential, in bytes
PREFIX_MAX: Final = 1000  # maximum length of a prefix in bytes; object keys are limited to 1,024
MIB: Final = 1 << 20
_BUCKET: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,254}")
_ENDPOINT: Final = re.compile(r"https?://[A-Za-z0-9.:\[\]-]{1,255}(?:/[A-Za-z0-9._~/-]{0,255})?")

Users = list[str]


@dataclass(frozen=True, kw_only=True)
class MountFileSettings(FeatureSettings):
    """The mount settings file, which is read by `read_mount_settings`. Without this file, there are no named buckets or
    directories."""

    mounts: Annotated[
        Path | None,
        Option("--mounts", "the TOML file with buckets and directories for mounts (none)", metavar="FILE"),
    ] = None


class BucketSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A `[buckets.NAME]` table.

    Attributes:
        bucket: The name of the bucket in the object store. Default: NAME.
        endpoint: The URL of the object store. Default: Amazon S3.
        region: The region of the object store.
        prefix: Only objects with this prefix are visible. `{user}` and `{sandbox}` are replaced with ids.
        read_only: Whether all mounts are read-only.
        users: The ids of the users who can mount it, or `*`. Users with all rights can mount it as well.
        access_key_id_env: The gateway's environment variable that contains the access key id.
        access_key_id_file: A file that contains the access key id. Credential files are read for each mount.
        secret_access_key_env: The gateway's environment variable that contains the secret access key.
        secret_access_key_file: A file that contains the secret access key.
    """

    bucket: str | None = None
    endpoint: str | None = None
    region: str | None = None
    prefix: str = ""
    read_only: bool = False
    users: Users = []
    access_key_id_env: str | None = None
    access_key_id_file: str | None = None
    secret_access_key_env: str | None = None
    secret_access_key_file: str | None = None


class DirectorySettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A `[directories.NAME]` table: a directory on the gateway's machine.

    Attributes:
        path: The absolute path of the directory. Files are accessed as the directory's owner.
        prefix: The subdirectory to make visible, created if it's missing. `{user}` and `{sandbox}` are replaced as for
            buckets.
        read_only: Whether all mounts are read-only.
        users: The ids of the users who can mount it, or `*`. Users with all rights can mount it as well.
    """

    path: str
    prefix: str = ""
    read_only: bool = False
    users: Users = []


class MountSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The mount settings file.

    Attributes:
        per_sandbox: The maximum number of mounts in a sandbox.
        total: The maximum number of mounts. Each mount needs a process that uses about 50 MB of memory, and at most
            about `memory`.
        cache: The maximum disk space for a mount's pending uploads, in bytes.
        memory: The soft memory limit for a mount's process, in bytes.
        buckets: The buckets, keyed by name.
        directories: The directories, keyed by name.
    """

    per_sandbox: Annotated[int, Meta(ge=1, le=64)] = 8
    total: Annotated[int, Meta(ge=1, le=1000)] = 64
    cache: Annotated[int, Meta(ge=16 * MIB)] = 4096 * MIB
    memory: Annotated[int, Meta(ge=64 * MIB)] = 256 * MIB
    buckets: dict[Id, BucketSettings] = {}
    directories: dict[Id, DirectorySettings] = {}


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """The source of a mount, resolved for one sandbox.

    Attributes:
        bucket: The bucket's name. None if the source is a directory or an image.
        directory: The path of the visible directory.
        image: The path of the backup image that is an overlay's lower layer.
        prefix: The prefix of the objects to show, without leading and trailing slashes.
        read_only: Whether it must be mounted read-only.
        endpoint: The URL of the store.
        region: The region of the store.
        credentials: The credentials. None if the bucket is public.
    """

    bucket: str | None = None
    directory: str | None = None
    image: Path | None = None
    prefix: str = ""
    read_only: bool = False
    endpoint: str | None = None
    region: str | None = None
    credentials: MountCredentials | None = None


def read_mount_settings(path: Path) -> MountSettings:
    """Read the settings file, and check that every credential is readable. Raises `SettingsError`."""
    try:
        settings = msgspec.toml.decode(path.read_bytes(), type=MountSettings)
        if both := settings.buckets.keys() & settings.directories.keys():
            raise ValueError(f"{sorted(both)[0]!r} is both a bucket and a directory")
        for name, bucket in settings.buckets.items():
            _check_bucket(name, bucket)
        for name, directory in settings.directories.items():
            if not os.path.isabs(directory.path) or not os.path.isdir(directory.path):
                raise ValueError(f"directories.{name}: {directory.path!r} is not the absolute path of a directory")
            check_prefix(_filled(directory.prefix, "user", "sandbox"))
    except OSError as error:
        raise SettingsError(f"--mounts {path}: {error.strerror}") from error
    except (msgspec.MsgspecError, ValueError) as error:
        raise SettingsError(f"--mounts {path}: {error}") from error
    except HawseError as error:
        raise SettingsError(f"--mounts {path}: {error.message}") from error
    return settings


def check_prefix(prefix: str) -> str:
    """Return a prefix without leading and trailing slashes. Raises `ValueError` if it could lead outside the bucket."""
    parts = prefix.strip("/").split("/") if prefix.strip("/") else []
    if len(prefix.encode("utf-8", "replace")) > PREFIX_MAX or prefix.startswith("/"):
        raise ValueError(f"a prefix is relative and has at most {PREFIX_MAX} bytes")
    for part in parts:
        if part in ("", ".", "..") or not part.isprintable():
            raise ValueError(f"{part!r} is not allowed in a prefix")
    return "/".join(parts)


def check_named(settings: MountSettings, name: str, caller: Principal) -> None:
    """Raise `HawseError` (`not_found`) unless the bucket or directory exists and the caller may mount it."""
    found = settings.buckets.get(name) or settings.directories.get(name)
    if found is None or not (ALL in caller.rights or caller.id in found.users or EVERYBODY in found.users):
        raise HawseError("not_found", f"this gateway has no bucket or directory {name!r} that you can mount")


def named_source(settings: MountSettings, name: str, prefix: str, user: str, sandbox: str) -> Source:
    """Return the source for a bucket or directory named in the settings, along with its credentials.

    Args:
        settings: The settings.
        name: The bucket's or directory's name in the settings.
        prefix: The visible prefix, relative to the prefix in the settings.
        user: The id of the user that created the mount.
        sandbox: The id of the sandbox.

    Raises:
        HawseError: `unavailable` if the bucket or directory is no longer in the settings, or the credentials are
            unreadable.
    """
    if (bucket := settings.buckets.get(name)) is not None:
        return Source(
            bucket=bucket.bucket or name,
            prefix=_joined(_filled(bucket.prefix, user, sandbox), prefix),
            read_only=bucket.read_only,
            endpoint=bucket.endpoint,
            region=bucket.region,
            credentials=_credentials(name, bucket),
        )
    if (directory := settings.directories.get(name)) is not None:
        own = _joined(_filled(directory.prefix, user, sandbox), "")
        root = os.path.realpath(directory.path)
        try:
            if own:
                _make_directory(root, own)
            real = os.path.realpath(os.path.join(root, _joined(own, prefix)), strict=True)
        except OSError as error:
            raise HawseError("unavailable", f"the directory of {name!r} is unusable: {error.strerror}") from error
        allowed = os.path.realpath(os.path.join(root, own))
        if not Path(real).is_relative_to(allowed) or not Path(allowed).is_relative_to(root) or not os.path.isdir(real):
            raise HawseError("unavailable", f"the prefix in {name!r} is not a directory")
        return Source(directory=real, read_only=directory.read_only)
    raise HawseError("unavailable", f"this gateway no longer has a bucket or directory {name!r}")


def given_source(bucket: str, prefix: str, credentials: MountCredentials) -> Source:
    """Return the source for a bucket with credentials passed by the caller. Raises `HawseError` (`invalid_params`)."""
    try:
        _check_names(bucket, credentials.endpoint)
    except ValueError as error:
        raise HawseError("invalid_params", str(error), details={"path": "$.bucket"}) from None
    return Source(
        bucket=bucket,
        prefix=prefix,
        endpoint=credentials.endpoint,
        region=credentials.region,
        credentials=credentials,
    )


def _filled(prefix: str, user: str, sandbox: str) -> str:
    """Replace the placeholders in a prefix with ids. Each id becomes a single path component."""
    for name, value in (("user", user), ("sandbox", sandbox)):
        part = urllib.parse.quote(value, safe="@")
        prefix = prefix.replace(f"{{{name}}}", part if part.strip(".") else part.replace(".", "%2E"))
    return prefix


def _joined(first: str, second: str) -> str:
    return "/".join(filter(None, (check_prefix(first), check_prefix(second))))


def _make_directory(root: str, prefix: str) -> None:
    """Create the directory for a prefix, with the same owner as `root`. Symbolic links are not followed. Raises
    `OSError`."""
    flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    place, owner = os.open(root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC), os.stat(root)
    try:
        for part in prefix.split("/"):
            try:
                os.mkdir(part, 0o700, dir_fd=place)
                if os.getuid() == 0:
                    os.chown(part, owner.st_uid, owner.st_gid, dir_fd=place, follow_symlinks=False)
            except FileExistsError:
                pass
            inner = os.open(part, flags, dir_fd=place)
            os.close(place)
            place = inner
    finally:
        os.close(place)


def _check_bucket(name: str, settings: BucketSettings) -> None:
    where = f"buckets.{name}"
    try:
        _check_names(settings.bucket or name, settings.endpoint)
        check_prefix(_filled(settings.prefix, "user", "sandbox"))
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error
    for key in ("access_key_id", "secret_access_key"):
        if getattr(settings, f"{key}_env") is not None and getattr(settings, f"{key}_file") is not None:
            raise ValueError(f"{where} needs one of {key}_env and {key}_file")
    _credentials(name, settings)


def _check_names(bucket: str, endpoint: str | None) -> None:
    if not _BUCKET.fullmatch(bucket):
        raise ValueError(f"{bucket!r} is not the name of a bucket")
    if endpoint is not None and not _ENDPOINT.fullmatch(endpoint):
        raise ValueError(f"{endpoint!r} is not the URL of a store, such as https://s3.example.org")


def _credentials(name: str, settings: BucketSettings) -> MountCredentials | None:
    id = _value(name, settings.access_key_id_env, settings.access_key_id_file)
    secret = _value(name, settings.secret_access_key_env, settings.secret_access_key_file)
    if (id is None) != (secret is None):
        raise HawseError("unavailable", f"bucket {name!r} needs an access key id and a secret access key, or neither")
    return None if id is None or secret is None else MountCredentials(access_key_id=id, secret_access_key=secret)


def _value(name: str, variable: str | None, file: str | None) -> str | None:
    if variable is None and file is None:
        return None
    try:
        value = os.environ.get(variable, "") if variable is not None else Path(file or "").read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise HawseError("unavailable", f"bucket {name!r}: the file {file} cannot be read: {error}") from error
    if not 0 < len(value) <= SECRET_MAX or not (value.isascii() and value.isprintable()):
        source = f"the variable {variable}" if variable is not None else f"the file {file}"
        raise HawseError("unavailable", f"bucket {name!r}: {source} is empty or invalid")
    return value
