import json
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from gateway.providers.docker import start

MODULE = "import json, sys; print(json.dumps([sys.argv[1:], sys.path, __name__]))"


def test_a_module_of_the_bundle_is_run_with_its_arguments_and_only_the_paths_of_the_bundle(tmp_path: Path) -> None:
    library = tmp_path / "python" / "lib"
    library.mkdir(parents=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    (library / version).symlink_to(sysconfig.get_path("stdlib"))
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "hello.py").write_text(MODULE)
    shutil.copy(start.__file__, tmp_path / "start.py")
    argv = [sys.executable, "-I", "-S", str(tmp_path / "start.py"), "hello", "a", "b"]
    run = subprocess.run(argv, check=True, capture_output=True, timeout=60)
    standard = str(library / version)
    paths = [standard, f"{standard}/lib-dynload", str(tmp_path / "site")]
    assert json.loads(run.stdout) == [["a", "b"], paths, "__main__"]
