import os
import subprocess
from pathlib import Path

from gateway.providers.bundle.build import command, install_command


def test_a_bundle_is_copied_into_a_directory_of_another_user_and_starts_there(bundle: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    target.chmod(0o2777)
    subprocess.run(install_command(str(bundle), str(target)), check=True, timeout=60, env={})
    files = {path.relative_to(bundle): path.stat() for path in bundle.rglob("*") if path.is_file()}
    copied = {path.relative_to(target): path.stat() for path in target.rglob("*") if path.is_file()}
    assert {name: (status.st_size, status.st_mode) for name, status in copied.items()} == {
        name: (status.st_size, status.st_mode) for name, status in files.items()
    }
    argv = [*command(str(target)), "runtime", "--help"]
    assert b"Serve one sandbox." in subprocess.run(argv, check=True, capture_output=True, timeout=60, env={}).stdout
    assert os.access(target / "ld", os.X_OK)
