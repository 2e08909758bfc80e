"""The archive follows the OCI image specification: all digests and sizes are correct."""

import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any

from hawse_gateway.providers.bundle.image import BUNDLE, write_image


def made(folder: Path) -> bytes:
    target = io.BytesIO()
    write_image(folder, target, "example.org/hawse-runtime:1")
    return target.getvalue()


def blob(archive: tarfile.TarFile, descriptor: dict[str, Any]) -> bytes:
    kind, _, digest = descriptor["digest"].partition(":")
    file = archive.extractfile(f"blobs/{kind}/{digest}")
    assert file is not None
    content = file.read()
    assert (hashlib.sha256(content).hexdigest(), len(content)) == (digest, descriptor["size"])
    return content


def test_an_archive_contains_the_bundle_in_one_layer(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "a.so").write_bytes(b"library")
    (tmp_path / "ld").write_bytes(b"linker")
    (tmp_path / "ld").chmod(0o755)
    with tarfile.open(fileobj=io.BytesIO(made(tmp_path))) as archive:
        layout = archive.extractfile("oci-layout")
        assert layout is not None
        assert json.load(layout) == {"imageLayoutVersion": "1.0.0"}
        index = archive.extractfile("index.json")
        assert index is not None
        (described,) = json.load(index)["manifests"]
        assert described["annotations"]["org.opencontainers.image.ref.name"] == "example.org/hawse-runtime:1"
        manifest = json.loads(blob(archive, described))
        config = json.loads(blob(archive, manifest["config"]))
        (layer,) = manifest["layers"]
        assert config["rootfs"]["diff_ids"] == [layer["digest"]]
        with tarfile.open(fileobj=io.BytesIO(blob(archive, layer))) as files:
            found = {entry.name: (entry.mode & 0o111, entry.uid, entry.mtime) for entry in files}
    assert found[f"{BUNDLE}/ld"] == (0o111, 0, 0)
    assert found[f"{BUNDLE}/lib/a.so"] == (0, 0, 0)


def test_the_same_bundle_makes_the_same_archive(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")
    first = made(tmp_path)
    (tmp_path / "a").touch()
    assert made(tmp_path) == first
