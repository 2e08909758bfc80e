import json
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hawse_gateway.providers.bundle import start

MODULE = "import builtins, json, sys; print(json.dumps([sys.argv[1:], sys.path, __name__, hasattr(builtins, 'help')]))"


def made(bundle: Path, tmp_path: Path, *options: str, **env: str) -> Any:
    """Run a module that prints its arguments and paths; return them with the paths of the bundle."""
    library = tmp_path / "python" / "lib"
    library.mkdir(parents=True)
    version = f"python{start.VERSION}"
    (library / version).symlink_to(sysconfig.get_path("stdlib"))
    (library / start.STANDARD).symlink_to(bundle / "python" / "lib" / start.STANDARD)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "hello.py").write_text(MODULE)
    shutil.copy(start.__file__, tmp_path / "start.py")
    argv = [sys.executable, *options, str(tmp_path / "start.py"), "hello", "a", "b"]
    run = subprocess.run(argv, check=True, capture_output=True, timeout=60, env=env)
    archives = [str(library / start.STANDARD), str(library / version / "lib-dynload"), str(tmp_path / start.SITE)]
    return json.loads(run.stdout), [*archives, str(tmp_path / "site")]


def test_a_module_of_the_bundle_is_run_with_its_arguments_and_only_the_paths_of_the_bundle(
    bundle: Path, tmp_path: Path
) -> None:
    printed, paths = made(bundle, tmp_path, "-I", "-S", PYTHONPATH="/mine")
    assert printed == [["a", "b"], paths, "__main__", False]


def test_user_code_has_help_and_can_add_paths(bundle: Path, tmp_path: Path) -> None:
    printed, paths = made(bundle, tmp_path, "-S", PYTHONPATH="/mine:/other:")
    assert printed == [["a", "b"], ["/mine", "/other", *paths], "__main__", True]
