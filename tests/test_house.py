"""Rules of the repository: no file names a package index, each distribution holds the browser client, one version."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hawse import __version__
from tests.support.packages import PACKAGES, ROOT, tracked

# The machine that installs packages chooses their index. The names are split so that this file doesn't contain them.
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


def test_no_tracked_file_names_a_package_index() -> None:
    hosts = re.compile("|".join(map(re.escape, INDEX_HOSTS)).encode())
    found = [
        f"{path.relative_to(ROOT)}: {hit[0].decode()}"
        for path in tracked()
        for hit in hosts.finditer(path.read_bytes())
    ]
    assert not found, "\n".join(found)


def test_the_long_tests_are_in_the_folder_that_make_soak_collects() -> None:
    mark = "@pytest.mark." + "soak"
    files = [path.relative_to(ROOT) for path in tracked() if path.suffix == ".py" and mark in path.read_text("utf-8")]
    assert {str(path.parent) for path in files} == {"tests/integration"}


@pytest.mark.parametrize("folder", ["web", "e2e/apps"])
def test_a_lockfile_of_npm_pins_by_hash_and_not_by_address(folder: str) -> None:
    packages = json.loads((ROOT / folder / "package-lock.json").read_text("utf-8"))["packages"]
    installed = {name: entry for name, entry in packages.items() if name and not entry.get("link")}
    assert installed
    assert [name for name, entry in installed.items() if "resolved" in entry] == []
    # A bundled package is part of another package's archive and covered by its hash.
    assert [name for name, entry in installed.items() if not entry.get("integrity") and not entry.get("inBundle")] == []


PINS = [
    *(f"requirements/{name}.txt" for name in ("run", "dev", "docs", "build", "compile")),
    "e2e/apps/requirements.txt",
]


@pytest.mark.parametrize("name", PINS)
def test_every_python_pin_has_hashes(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    pins = re.split(r"\n(?=\S)", text.strip())
    assert pins
    assert [pin for pin in pins if "==" not in pin or "--hash=sha256:" not in pin] == []


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_a_distribution_without_the_browser_client_is_refused(kind: str, tmp_path: Path) -> None:
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path)
    for folder in PACKAGES.values():
        (tmp_path / folder.relative_to(ROOT)).mkdir(parents=True)
        shutil.copy(folder / "__init__.py", tmp_path / folder.relative_to(ROOT))
    command = [sys.executable, "-m", "hatchling", "build", "--target", kind]

    refused = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert refused.returncode != 0
    assert "gateway/hawse_gateway/_web/index.html is missing" in refused.stderr
    assert not list(tmp_path.glob("dist/*.*"))

    web = tmp_path / "gateway" / "hawse_gateway" / "_web"
    web.mkdir()
    (web / "index.html").write_text("<!doctype html>")
    made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    assert len(list(tmp_path.glob("dist/hawse-*"))) == 1


# Files that name container images, and the tags of our images in them.
TAGGED = (
    *("deploy/kubernetes/gateway.yaml", "deploy/kubernetes/kubernetes.toml"),
    *("docs/deploy/kubernetes.md", "docs/sandboxes.md"),
)
TAG = re.compile(r"\b(?:hawse(?:-runtime)?:|newTag: )(\d[\w.]*\w)")


def test_every_package_and_image_has_the_one_version() -> None:
    web = ROOT / "web"
    lock = json.loads((web / "package-lock.json").read_text("utf-8"))
    versions = {json.loads((web / "package.json").read_text("utf-8"))["version"], lock["version"]}
    assert versions | {lock["packages"][""]["version"]} == {__version__}
    tags = [tag for name in TAGGED for tag in TAG.findall((ROOT / name).read_text("utf-8"))]
    assert len(tags) == 6
    assert {*tags} == {__version__}, "a gateway and the runtime of its pods have one version"


def test_a_release_sets_the_version_everywhere_and_tags_it(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    versioned = ("hawse/__init__.py", "web/package.json", "web/package-lock.json", "CHANGELOG.md")
    for name in (*versioned, *TAGGED, "scripts/lib.sh", "scripts/release.sh"):
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, repository / name)
    (repository / "Makefile").write_text("build wheels: ; @grep -q 9.8.7 hawse/__init__.py\n")

    def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
        author = {
            f"GIT_{role}_{what}": "ann@hawse.test" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
        }
        environment = os.environ | author
        return subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True, check=False)

    def release(version: str) -> subprocess.CompletedProcess[str]:
        return run(repository / "scripts" / "release.sh", version)

    run("git", "init", "-q")
    assert "uncommitted changes" in release("9.8.7").stderr
    run("git", "add", ".")
    run("git", "commit", "-qm", "x")
    assert "invalid version" in release("1.2").stderr
    assert release("9.8.6").returncode != 0  # the build fails
    assert run("git", "status", "--porcelain").stdout == ""

    made = release("9.8.7")
    assert made.returncode == 0, made.stderr
    assert run("git", "describe").stdout == "v9.8.7\n"
    assert run("git", "status", "--porcelain").stdout == ""
    assert '__version__ = "9.8.7"' in (repository / "hawse" / "__init__.py").read_text("utf-8")
    for name in ("package.json", "package-lock.json"):
        before, after = ((base / "web" / name).read_text("utf-8") for base in (ROOT, repository))
        assert after.replace("9.8.7", __version__) == before
    for name in TAGGED:
        before, after = ((base / name).read_text("utf-8") for base in (ROOT, repository))
        assert {*TAG.findall(after)} == {"9.8.7"}
        assert after.replace("9.8.7", __version__) == before
    assert re.search(
        r"^## \[Unreleased\]\n\n## \[9\.8\.7\] - \d{4}-\d\d-\d\d\n",
        (repository / "CHANGELOG.md").read_text("utf-8"),
        re.M,
    )
    assert "lists no change" in release("9.8.8").stderr


@pytest.mark.parametrize(
    ("image", "needed"),
    [
        (".", {"bubblewrap", "ca-certificates", "git", "openssh-client"}),
        ("deploy/images/sandbox", {"bash", "ca-certificates", "git", "openssh-client"}),
    ],
)
def test_the_container_images_install_the_programs_that_the_runtime_starts(image: str, needed: set[str]) -> None:
    """S13: without git and ssh, `git.*` is `spawn_failed` in a sandbox of docker-compose.yml."""
    text = (ROOT / image / "Dockerfile").read_text().replace("\\\n", " ")
    installed = re.findall(r"apt-get install -y --no-install-recommends ([^&\n]+)", text)
    packages = {package for names in installed for package in names.split()}
    assert needed <= packages


def test_the_runtime_does_not_use_the_default_executor() -> None:
    """One pool for all blocking work would let a slow disk hold up kills (`hawse_runtime.core.thread_pool`)."""
    found = [
        f"{path.relative_to(ROOT)}: {ast.unparse(node)}"
        for path in sorted(PACKAGES["hawse_runtime"].rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if _uses_default_executor(node)
    ]
    assert not found, "\n".join(found)


def _uses_default_executor(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute | ast.Name):
        name = node.attr if isinstance(node, ast.Attribute) else node.id
        return name in ("to_thread", "getaddrinfo", "getnameinfo", "set_default_executor")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "run_in_executor":
        return isinstance(node.args[0], ast.Constant)
    return isinstance(node, ast.ImportFrom) and any(alias.name == "to_thread" for alias in node.names)


# Names that their libraries document although they begin with an underscore.
DOCUMENTED = {"_asdict", "_exit", "_fields", "_make", "_replace"}


def test_no_test_uses_a_private_name_of_another_module() -> None:
    """What a test needs is a setting, an argument, or a public attribute. It may use its own private names."""
    files = sorted(path for folder in ("tests", "e2e") for path in (ROOT / folder).rglob("*.py"))
    found = [
        f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}: {name}"
        for path in files
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for name in _private_names(node)
    ]
    assert not found, "\n".join(found)


def _private_names(node: ast.AST) -> list[str]:
    """The private names of others that `node` uses: an attribute, an import, or a name that is given as a string."""
    names: list[str] = []
    if isinstance(node, ast.Attribute) and not _is_own(node.value):
        names = [node.attr]
    elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in PACKAGES:
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.Call) and _called(node) in ("getattr", "setattr", "delattr"):
        strings = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        names = [string.split(".")[-1] for string in strings]
    return [name for name in names if name.startswith("_") and not name.endswith("__") and name not in DOCUMENTED]


def _is_own(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return _called(value) == "super"
    return isinstance(value, ast.Name) and value.id in ("self", "cls")


def _called(call: ast.Call) -> str:
    """The last name of what is called."""
    func = call.func
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def test_private_names_are_found() -> None:
    source = """
self._own; cls._own; super()._own; point._replace(x=1); __name__
thing._attribute
self._own._deep
from hawse_runtime.app import _function
monkeypatch.setattr(module, "_constant", 1)
monkeypatch.setattr("hawse_gateway.server._other", 1)
getattr(thing, "_read")
"""
    found = [name for node in ast.walk(ast.parse(source)) for name in _private_names(node)]
    assert sorted(found) == ["_attribute", "_constant", "_deep", "_function", "_other", "_read"]
