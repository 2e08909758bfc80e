import os
import signal
import subprocess
import time
from pathlib import Path

from hawse_gateway.providers.bundle.build import command, install_command


def test_a_bundle_is_copied_into_a_directory_of_another_user_and_starts_there(bundle: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    target.chmod(0o2777)
    wait = install_command(str(bundle), str(target), what="wait")
    with subprocess.Popen(wait, env={}, stdout=subprocess.PIPE) as waiting:
        subprocess.run(install_command(str(bundle), str(target)), check=True, timeout=60, env={})
        assert waiting.stdout is not None
        assert waiting.stdout.readline() == b"the runtime is installed\n"
        assert waiting.poll() is None, "a pod with a container that has ended is never ready"
        waiting.send_signal(signal.SIGTERM)
        assert waiting.wait(60) == 0
    (target / ".installing").unlink()
    files = {path.relative_to(bundle): path.stat() for path in bundle.rglob("*") if path.is_file()}
    copied = {path.relative_to(target): path.stat() for path in target.rglob("*") if path.is_file()}
    assert {name: (status.st_size, status.st_mode) for name, status in copied.items()} == {
        name: (status.st_size, status.st_mode) for name, status in files.items()
    }
    argv = [*command(str(target)), "hawse_runtime", "--help"]
    assert b"Serve one sandbox." in subprocess.run(argv, check=True, capture_output=True, timeout=60, env={}).stdout
    assert os.access(target / "ld", os.X_OK)


def test_a_container_waiting_for_a_copy_ends_with_the_pod(bundle: Path, tmp_path: Path) -> None:
    with subprocess.Popen(install_command(str(bundle), str(tmp_path), what="wait"), env={}) as waiting:
        status = Path(f"/proc/{waiting.pid}/status")
        while not _catches(status.read_text(), signal.SIGTERM):
            time.sleep(0.01)
        waiting.send_signal(signal.SIGTERM)
        assert waiting.wait(60) == 1


def _catches(status: str, number: int) -> bool:
    """Whether a process has a handler for a signal: proc(5)."""
    (caught,) = (line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught, 16) >> (number - 1) & 1)
