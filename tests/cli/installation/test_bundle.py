import json
import tarfile
from pathlib import Path

import pytest

from hawse import __version__
from hawse.cli import main
from hawse_gateway.providers.bundle import build


@pytest.fixture
def small_bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bundle of one file, in place of one that takes half a minute."""
    made = tmp_path / "bundle"
    made.mkdir()
    (made / "ld").write_bytes(b"linker")
    monkeypatch.setattr(build, "ensure_bundle", lambda bundles: made)


@pytest.mark.usefixtures("small_bundle")
def test_an_image_has_the_name_of_the_version_or_the_one_that_is_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for options, name in (([], f"hawse-runtime:{__version__}"), (["--name", "example.org/r:2"], "example.org/r:2")):
        file = tmp_path / "image.tar"
        assert main(["bundle", str(file), *options, "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == {"file": str(file), "name": name, "size": file.stat().st_size}
        with tarfile.open(file) as archive:
            index = archive.extractfile("index.json")
            assert index is not None
            (manifest,) = json.load(index)["manifests"]
        assert manifest["annotations"]["org.opencontainers.image.ref.name"] == name


@pytest.mark.usefixtures("small_bundle")
def test_a_file_that_cannot_be_written_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bundle", str(tmp_path / "missing" / "image.tar")]) == 1
    assert "No such file or directory" in capsys.readouterr().err
