"""Provides the path, arguments and environment of rclone, which serves mounts, and finds pending uploads in its
cache."""

import json
import os
import posixpath
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from hawse.wire import HawseError
from hawse_gateway.mounts.plan import CACHE_FD, DIRECTORY_FD, FUSE_FD
from hawse_gateway.mounts.settings import Source

CONNECT_TIMEOUT: Final = 5  # seconds
IDLE_TIMEOUT: Final = 5  # maximum number of seconds without data from the store
ATTEMPTS: Final = 1  # number of attempts per request; the cache itself retries uploads until they succeed
WRITE_BACK: Final = 1  # seconds from the last close of a file until its upload starts
SEEN_AFTER: Final = 10  # seconds until changes made to a bucket outside the mount become visible
PART: Final = "8Mi"  # bytes per part of an upload; up to `TRANSFERS` x `PARTS` parts are in memory
TRANSFERS: Final = 2
PARTS: Final = 2
NO_BUCKET: Final = 3  # rclone's exit code for a bucket (or, with other remotes, a directory) that does not exist
NOTHING: Final = ".hawse-probe"
REMOTE: Final = "STORE"  # the remote's name in environment variables
SYSTEM: Final = "/usr/bin:/bin:/usr/local/bin"
_VARIABLES: Final = ("PATH", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY")


def find() -> str | None:
    """Return the path of rclone with symbolic links resolved, because other users may be unable to follow them."""
    path = shutil.which("rclone") or shutil.which("rclone", path=SYSTEM)
    return None if path is None else os.path.realpath(path)


def check_available() -> str:
    """Return the path of rclone. Raises `HawseError` (`unavailable`) with the name of the package to install."""
    program = find()
    if program is None:
        raise HawseError(
            "unavailable", "mounts need rclone on the gateway's machine: apt install rclone", retryable=False
        )
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        text = "mounts need /dev/fuse on the gateway's machine: modprobe fuse, and access for the gateway's user"
        raise HawseError("unavailable", text, retryable=False)
    return program


def arguments(program: str, source: Source, *, size: int, user: int, read_only: bool) -> list[str]:
    """Return the command that serves a mount. It contains no credentials.

    Args:
        program: The path of rclone.
        source: The mount's source.
        size: The maximum size of uploaded files kept in the cache, in bytes.
        user: The owner of the mount's files, in the sandbox's user namespace.
        read_only: Whether it is read-only.
    """
    options = {
        "cache-dir": f"/proc/self/fd/{CACHE_FD}",
        "vfs-cache-mode": "writes",
        "vfs-cache-max-size": size,
        "vfs-cache-poll-interval": "10s",
        "vfs-write-back": f"{WRITE_BACK}s",
        "dir-cache-time": f"{SEEN_AFTER}s",
        "poll-interval": "0",
        "uid": user,
        "gid": user,
        "contimeout": f"{CONNECT_TIMEOUT}s",
        "timeout": f"{IDLE_TIMEOUT}s",
        "low-level-retries": ATTEMPTS,
        "retries": 1,
        "transfers": TRANSFERS,
        "buffer-size": "4Mi",
        "log-level": "NOTICE",
        "config": "",
    }
    flags = [f"--{name}={value}" for name, value in options.items()]
    if read_only:
        flags.append("--read-only")
    remote = f"/proc/self/fd/{DIRECTORY_FD}"
    if source.bucket is not None:
        flags.append("--use-server-modtime")
        remote = f"{REMOTE.lower()}:{_path(source)}"
    return [program, "mount2", "--allow-non-empty", *flags, remote, f"/dev/fd/{FUSE_FD}"]


def probe(program: str, source: Source) -> list[str]:
    """Return a command that exits with `NO_BUCKET` if a bucket does not exist. A mount of such a bucket would appear
    empty.

    The command lists a directory that doesn't exist, because listing the whole bucket could take a long time.

    Args:
        program: The path of rclone.
        source: The source of a mount. It must be a bucket.
    """
    limits = [f"--contimeout={CONNECT_TIMEOUT}s", f"--timeout={IDLE_TIMEOUT}s", f"--low-level-retries={ATTEMPTS}"]
    path = _path(msgspec.structs.replace(source, prefix=posixpath.join(source.prefix, NOTHING)))
    return [program, "lsf", *limits, "--retries=1", "--config=", f"{REMOTE.lower()}:{path}"]


def environment(source: Source, memory: int) -> dict[str, str]:
    """Return the complete environment for rclone. Only rclone's user and root can read it (proc_pid_environ(5)).

    Args:
        source: The mount's source.
        memory: The soft limit on rclone's memory, in bytes.
    """
    found = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
    found |= {"HOME": "/", "GOMEMLIMIT": str(memory), "GOMAXPROCS": "2"}
    if source.bucket is None:
        return found
    options = {
        "type": "s3",
        "provider": "AWS" if source.endpoint is None else "Other",
        "endpoint": source.endpoint,
        "region": source.region or "us-east-1",
        "no_check_bucket": "true",
        "chunk_size": PART,
        "upload_concurrency": str(PARTS),
    }
    if source.credentials is not None:
        options["access_key_id"] = source.credentials.access_key_id
        options["secret_access_key"] = source.credentials.secret_access_key
        options["session_token"] = source.credentials.session_token
    return found | {
        f"RCLONE_CONFIG_{REMOTE}_{name.upper()}": value for name, value in options.items() if value is not None
    }


class Cached(NamedTuple):
    """The size of a cache and its pending uploads.

    Attributes:
        pending: The number of files that have not been uploaded yet.
        size: The size on disk, in bytes.
    """

    pending: int
    size: int


def look(cache: Path) -> Cached:
    """Return the size of a cache and its pending uploads. Blocks, and takes longer if there are many files.

    rclone keeps each file's metadata as JSON below `vfsMeta`, where `Dirty` is set from the first write until the
    upload is complete. A file with unreadable metadata counts as pending (see `repair`).
    """
    pending = size = 0
    for folder, _, names in os.walk(cache):
        for name in names:
            path = os.path.join(folder, name)
            try:
                size += os.lstat(path).st_blocks * 512
                if os.path.relpath(path, cache).startswith("vfsMeta"):
                    found = _read(path)
                    pending += found is None or bool(found.get("Dirty"))
            except OSError:
                continue  # the file has been removed in the meantime
    return Cached(pending, size)


def repair(cache: Path) -> list[str]:
    """Rewrite metadata that rclone was writing when it was killed. Call this only if no rclone is using the cache.
    Blocks.

    rclone truncates a metadata file before writing it, and deletes files with unreadable metadata. Files with holes are
    not repaired, because parts that were never read from the store would be uploaded as zeros.

    Args:
        cache: The cache directory. Its files keep their owners.

    Returns:
        The paths of the repaired files, below `vfs` in the cache. rclone will upload these files.

    Raises:
        OSError: The metadata cannot be written.
    """
    repaired = []
    for folder, _, names in os.walk(cache / "vfsMeta"):
        for name in names:
            path = Path(folder, name)
            data = cache / "vfs" / (inside := path.relative_to(cache / "vfsMeta"))
            if _read(path) is not None or not _complete(data):
                continue
            with open(os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW), "w") as file:
                json.dump(_metadata(data.stat()), file)
            repaired.append(str(inside))
    return repaired


def _complete(path: Path) -> bool:
    """Return whether a file exists and has no holes."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            return size == 0 or os.lseek(file.fileno(), 0, os.SEEK_HOLE) == size
    except OSError:
        return False


def _metadata(status: os.stat_result) -> dict[str, object]:
    """Return rclone's metadata for a file that is complete in the cache and has not been uploaded yet."""
    modified = datetime.fromtimestamp(status.st_mtime, UTC).isoformat().replace("+00:00", "Z")
    return {
        "ModTime": modified,
        "ATime": modified,
        "Size": status.st_size,
        "Rs": [{"Pos": 0, "Size": status.st_size}] if status.st_size else [],
        "Fingerprint": "",
        "Dirty": True,
    }


def _read(path: str | Path) -> dict[str, object] | None:
    """Return a file's metadata, or None if it is damaged. Raises `OSError`."""
    with open(path, "rb") as file:
        try:
            found = json.load(file)
        except ValueError:
            return None
    return found if isinstance(found, dict) else None


def _path(source: Source) -> str:
    return f"{source.bucket}/{source.prefix}" if source.prefix else source.bucket or ""
