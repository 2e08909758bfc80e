"""The repository keeps to its own rules: no package index is named, no wheel lacks the browser client."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# Whoever builds this chooses where packages come from. In halves, so that this file keeps to its own rule.
INDEX_HOSTS = [
    "py" + "pi.org",
    "python" + "hosted.org",
    "np" + "mjs.org",
    "np" + "mjs.com",
    "yarn" + "pkg.com",
    "deb." + "debian.org",
    "security." + "debian.org",
    "archive." + "ubuntu.com",
    "security." + "ubuntu.com",
    "crates" + ".io",
    "proxy." + "golang.org",
]


def tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True
    )
    return [path for name in listed.stdout.decode().split("\0") if name and (path := ROOT / name).is_file()]


def test_no_tracked_file_names_a_package_index() -> None:
    hosts = re.compile("|".join(map(re.escape, INDEX_HOSTS)).encode())
    found = [
        f"{path.relative_to(ROOT)}: {hit[0].decode()}"
        for path in tracked()
        for hit in hosts.finditer(path.read_bytes())
    ]
    assert not found, "\n".join(found)


def test_the_web_lockfile_pins_by_hash_and_not_by_address() -> None:
    packages = json.loads((ROOT / "web" / "package-lock.json").read_text("utf-8"))["packages"]
    installed = {name: entry for name, entry in packages.items() if name and not entry.get("link")}
    assert installed
    assert [name for name, entry in installed.items() if "resolved" in entry] == []
    # What is carried inside another package's archive has that archive's hash.
    assert [name for name, entry in installed.items() if not entry.get("integrity") and not entry.get("inBundle")] == []


@pytest.mark.parametrize("name", ["run.txt", "dev.txt", "build.txt"])
def test_every_python_pin_has_hashes(name: str) -> None:
    text = (ROOT / "requirements" / name).read_text("utf-8")
    pins = re.split(r"\n(?=\S)", text.strip())
    assert pins
    assert [pin for pin in pins if "==" not in pin or "--hash=sha256:" not in pin] == []


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_a_distribution_without_the_browser_client_is_refused(kind: str, tmp_path: Path) -> None:
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path)
    for package in ("hawse", "runtime", "gateway"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("")
    command = [sys.executable, "-m", "hatchling", "build", "--target", kind]

    refused = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert refused.returncode != 0
    assert "gateway/_web/index.html is missing" in refused.stderr
    assert not list(tmp_path.glob("dist/*.*"))

    (tmp_path / "gateway" / "_web").mkdir()
    (tmp_path / "gateway" / "_web" / "index.html").write_text("<!doctype html>")
    made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    assert len(list(tmp_path.glob("dist/hawse-*"))) == 1
