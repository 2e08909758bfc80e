"""Build hook: refuse a distribution that lacks the browser client, and compile the hot path of a wheel if asked to.

`gateway/hawse_gateway/_web/` is built from `web/` by `make build` (or by `npm run build` in `web/`) and is not in the
repository. An editable install works without it.

With `HAWSE_COMPILE=1` in the environment a wheel holds the modules that pyproject.toml lists also as machine code, made
from the same source by mypyc (docs/decisions/0127). Python imports them instead of the source beside them. Without it a
wheel is pure, and needs no compiler. `python hatch_build.py` compiles in place, for `make compile`.
"""

import os
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ASKED = "HAWSE_COMPILE"  # the environment variable
FOLDERS = {"hawse": ".", "hawse_runtime": "runtime", "hawse_gateway": "gateway"}  # of the packages
WEB = ("gateway", "hawse_gateway", "_web")
LIBRARY = "hawse.compiled"  # mypyc adds `__mypyc`: one shared library with the code of all modules
TEMPORARY = Path("build", "mypyc")
OPTIMIZE = "2"  # for the C compiler: 3 takes longer and gives nothing that was measurable
NO_DEBUG = "0"


class WebBundleHook(BuildHookInterface):  # type: ignore[type-arg]  # its parameter is hatchling's own
    """Check that the browser client was built before a wheel or an sdist is made, and compile if asked to."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Return what the build needs besides hatchling. mypy reads the types of the dependencies."""
        if self.target_name != "wheel" or os.environ.get(ASKED) != "1":
            return []
        return ["mypy>=2.4", "setuptools", *self.metadata.core.dependencies]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Raises RuntimeError if the browser client is missing, except for an editable install."""
        if version == "editable":
            return
        index = Path(self.root, *WEB, "index.html")
        if not index.is_file():
            raise RuntimeError(
                f"{index.relative_to(self.root)} is missing, so this {self.target_name} would have no browser "
                "client. Build it first: `make build`, or `cd web && npm ci && npm run build`."
            )
        if self.target_name == "wheel" and os.environ.get(ASKED) == "1":
            os.chdir(self.root)
            built = compile_modules(self.config["compiled"])
            build_data["force_include"] |= {str(path): str(path.relative_to(TEMPORARY / "lib")) for path in built}
            build_data["pure_python"] = False
            build_data["infer_tag"] = True


def compile_modules(modules: list[str]) -> list[Path]:
    """Compile modules of the current directory, with the dependencies of hawse, mypy and setuptools installed.

    Args:
        modules: Paths of modules, such as `hawse/link/stream_link.py`.

    Returns:
        The files that were made, below `TEMPORARY / "lib"` as they belong below the directory of the packages.
    """
    from mypyc.build import mypycify
    from setuptools import Distribution
    from setuptools.command.build_ext import build_ext

    shutil.rmtree(TEMPORARY / "lib", ignore_errors=True)
    extensions = mypycify(
        [f"--python-version={sys.version_info.major}.{sys.version_info.minor}", *modules],
        group_name=LIBRARY,
        target_dir=str(TEMPORARY / "c"),
        opt_level=OPTIMIZE,
        debug_level=NO_DEBUG,
    )
    command = build_ext(Distribution({"ext_modules": extensions}))
    command.build_lib = str(TEMPORARY / "lib")
    command.build_temp = str(TEMPORARY / "objects")
    command.parallel = os.cpu_count()
    command.ensure_finalized()
    command.run()
    return sorted((TEMPORARY / "lib").rglob("*.so"))


def compiled_files(root: Path) -> Iterator[Path]:
    """Yield what `make compile` has left among the packages."""
    for package, folder in FOLDERS.items():
        yield from Path(root, folder, package).rglob("*.so")


def outdated(root: Path) -> list[str]:
    """Return the modules whose source is newer than what was compiled from it."""
    pairs = ((path.with_name(f"{path.name.partition('.')[0]}.py"), path) for path in compiled_files(root))
    return sorted(
        str(source.relative_to(root))
        for source, path in pairs
        if source.exists() and source.stat().st_mtime > path.stat().st_mtime
    )


def main() -> None:
    """Compile in place. What was compiled before is removed first, so that a failure leaves a pure tree."""
    root = Path(__file__).resolve().parent
    os.chdir(root)
    for path in compiled_files(root):
        path.unlink()
    with open("pyproject.toml", "rb") as file:
        modules = tomllib.load(file)["tool"]["hatch"]["build"]["hooks"]["custom"]["compiled"]
    for path in compile_modules(modules):
        module = path.relative_to(TEMPORARY / "lib")
        shutil.copy(path, root / FOLDERS.get(module.parts[0], ".") / module)


if __name__ == "__main__":
    main()
