"""Writes an image of the bundle: an OCI archive for registries and container engines.

The image has one layer with the bundle at `/hawse/bundle`, and no command. The archive is reproducible byte for byte.
Format: https://github.com/opencontainers/image-spec, `image-layout.md`.
"""

import hashlib
import io
import json
import platform
import tarfile
import tempfile
from pathlib import Path
from typing import IO, Any, Final

BUNDLE: Final = "hawse/bundle"  # path of the bundle in the image
MACHINES: Final = {"x86_64": "amd64", "aarch64": "arm64"}  # architectures in images, keyed by Linux name
MEDIA: Final = "application/vnd.oci.image"


def write_image(bundle: Path, target: IO[bytes], name: str) -> None:
    """Write an archive. Blocks.

    Args:
        bundle: The bundle directory.
        target: The file to write the archive to. The archive is about 80 MB in size.
        name: The image name, with a tag.

    Raises:
        OSError: A file can't be read, or the target can't be written.
    """
    with tempfile.TemporaryFile() as layer, tarfile.open(fileobj=target, mode="w|") as archive:
        _write_layer(bundle, layer)
        layer_digest, layer_size = _digest(layer)
        machine = MACHINES.get(platform.machine(), platform.machine())
        config = _json(
            {"architecture": machine, "os": "linux", "config": {}}
            | {"rootfs": {"type": "layers", "diff_ids": [f"sha256:{layer_digest}"]}}
        )
        manifest = _json(
            {
                "schemaVersion": 2,
                "mediaType": f"{MEDIA}.manifest.v1+json",
                "config": _descriptor(config, "config.v1+json"),
                "layers": [
                    {
                        "mediaType": f"{MEDIA}.layer.v1.tar",
                        "digest": f"sha256:{layer_digest}",
                        "size": layer_size,
                    }
                ],
            }
        )
        names = {"io.containerd.image.name": name, "org.opencontainers.image.ref.name": name}
        described = {**_descriptor(manifest, "manifest.v1+json"), "annotations": names}
        _add(archive, "oci-layout", _json({"imageLayoutVersion": "1.0.0"}))
        _add(archive, "index.json", _json({"schemaVersion": 2, "manifests": [described]}))
        for content in (config, manifest):
            _add(archive, _blob(hashlib.sha256(content).hexdigest()), content)
        entry = tarfile.TarInfo(_blob(layer_digest))
        entry.size = layer_size
        archive.addfile(entry, layer)


def _write_layer(bundle: Path, layer: IO[bytes]) -> None:
    """Write the bundle's files, owned by root and without timestamps."""

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = entry.mtime = 0
        entry.uname = entry.gname = ""
        return entry

    with tarfile.open(fileobj=layer, mode="w") as archive:
        for path in [bundle, *sorted(bundle.rglob("*"))]:
            archive.add(path, Path(BUNDLE, path.relative_to(bundle)), recursive=False, filter=plain)


def _digest(file: IO[bytes]) -> tuple[str, int]:
    """Return a file's digest and size, and rewind it."""
    file.seek(0)
    digest = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]  # any file that can be read
    size = file.tell()
    file.seek(0)
    return digest, size


def _descriptor(content: bytes, kind: str) -> dict[str, Any]:
    return {
        "mediaType": f"{MEDIA}.{kind}",
        "digest": f"sha256:{hashlib.sha256(content).hexdigest()}",
        "size": len(content),
    }


def _json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True).encode()


def _blob(digest: str) -> str:
    return f"blobs/sha256/{digest}"


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content))
