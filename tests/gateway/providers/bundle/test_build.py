import subprocess
from pathlib import Path

import pytest

from hawse_gateway.providers.bundle import build as bundles, start
from hawse_gateway.providers.bundle.build import BundleError, ensure_bundle
from tests.support.bundle import BUNDLES

SIZE_MAX = 100 << 20  # bytes
FILES_MAX = 1200  # each one delays the start of a pod
MAPPED = (
    "import hawse_runtime.__main__, hawse_runtime.screen.emulator.ghostty, re2; print(open('/proc/self/maps').read())"
)


def run(bundle: Path, *arguments: str) -> str:
    argv = [*bundles.command(str(bundle)), *arguments]
    return subprocess.run(argv, check=True, capture_output=True, text=True, env={}, timeout=60).stdout


def test_the_runtime_starts_from_the_bundle(bundle: Path) -> None:
    assert "Serve one sandbox." in run(bundle, "hawse_runtime", "--help")


def test_the_runtime_loads_no_library_of_the_image(bundle: Path) -> None:
    linked = [*bundles.linked(str(bundle)), str(bundle / "python/bin/python3"), "-I", "-S"]
    library = bundle / "python/lib"
    extensions = library / f"python{start.VERSION}" / "lib-dynload"
    path = [str(each) for each in (library / start.STANDARD, extensions, bundle / start.SITE, bundle / "site")]
    program = f"import sys; sys.path[:] = {path}; {MAPPED}"
    maps = subprocess.run([*linked, "-c", program], check=True, capture_output=True, text=True, env={}, timeout=60)
    files = {line.split()[-1] for line in maps.stdout.splitlines() if ".so" in line}
    assert files
    assert [file for file in files if not file.startswith(str(bundle))] == []


def test_the_kernel_of_code_contexts_starts_from_the_bundle(bundle: Path) -> None:
    assert "connection_file" in run(bundle, "ipykernel", "--help-all")


def test_the_bundle_is_small(bundle: Path) -> None:
    files = [path for path in bundle.rglob("*") if path.is_file()]
    size = sum(path.lstat().st_size for path in files)
    assert size < SIZE_MAX, f"{size >> 20} MiB"
    assert len(files) < FILES_MAX


def test_every_user_can_read_the_bundle_and_only_its_owner_can_change_it(bundle: Path) -> None:
    modes = {path: path.stat().st_mode for path in [bundle, *bundle.rglob("*")]}
    assert [path for path, mode in modes.items() if mode & 0o022 or not mode & 0o004] == []
    assert [path for path in modes if path.is_dir() and not modes[path] & 0o001] == []


def test_the_bundle_of_a_version_is_built_once(bundle: Path) -> None:
    before = bundle.stat().st_mtime_ns
    assert ensure_bundle(BUNDLES) == bundle
    assert bundle.stat().st_mtime_ns == before
    assert [path.name for path in BUNDLES.iterdir() if path.name.startswith(".")] == []


def test_setpriv_of_the_bundle_runs_programs(bundle: Path) -> None:
    argv = [*bundles.linked(str(bundle)), str(bundle / "bin/setpriv"), "--no-new-privs", "--", "true"]
    subprocess.run(argv, check=True, timeout=60)


def test_a_machine_without_setpriv_gets_an_error_that_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BundleError, match=r"setpriv .* is not installed"):
        ensure_bundle(tmp_path / "bundles")


def test_a_directory_that_cannot_be_written_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BundleError, match="file"):
        ensure_bundle(tmp_path / "file" / "bundles")
