"""Builds the bundle: a directory for running the runtime in any Linux image, even without Python or a C library.

ld            the dynamic linker of this machine's interpreter, run with the paths of `lib` and of the interpreter
lib/          the shared libraries for all programs and extensions listed below
python/       the interpreter and its standard library, with the modules in `lib/python3XX.zip`
site/         hawse_runtime, and the packages imported by the runtime and by the kernel for code contexts
site.zip      pure Python packages, including hawse
bin/setpriv   starts programs as another user
start.py      runs a module with these directories as the module path
install.py    copies the bundle from its image

Modules are compiled. The standard library and `site` are included without source. Everything that can be imported from
an archive (zipimport) is stored in an archive, because copying many files into a pod is slow. The directory is mounted
read-only into containers. The directory's name is a hash of its sources, so a change to the interpreter, a package or
the runtime results in a different bundle.
"""

import compileall
import hashlib
import importlib.util
import os
import py_compile
import re
import secrets
import shutil
import struct
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Final, Literal

from hawse_gateway.providers.bundle import install, start

SCRIPTS: Final = (Path(start.__file__), Path(install.__file__))
OUR_PACKAGES: Final = ("hawse", "hawse_runtime")
# A program that prints the files of all modules imported by the runtime, one per line.
IMPORTED: Final = """
import importlib, pkgutil, sys
sys.path[:0] = sys.argv[1:]
import hawse_runtime.__main__
for module in pkgutil.walk_packages(hawse_runtime.__path__, "hawse_runtime."):
    if not module.name.startswith("hawse_runtime.code.host") and not module.name.endswith("__main__"):
        importlib.import_module(module.name)
for module in list(sys.modules.values()):
    print(getattr(module, "__file__", None) or "")
"""
# The packages for the code context kernel and its client. NOT_REQUIRED lists dependencies that are left out: a
# debugger, static completion (jedi and its type stubs), terminal drawing, and packages for PyPy.
KERNEL: Final = ("ipykernel", "jupyter_client", "pyzmq", "uvloop")
LOADED_LATER: Final = ("backports.zstd",)  # modules that the runtime imports only when they are first used
NOT_REQUIRED: Final = frozenset(("cffi", "debugpy", "jedi", "parso", "prompt_toolkit", "wcwidth"))
# Parts of the standard library that aren't needed by the runtime, or by user code that runs without a display.
UNUSED: Final = frozenset(
    "__pycache__ distutils dist-packages ensurepip idlelib lib2to3 pydoc_data site-packages test tests tkinter"
    " turtledemo venv".split()
)
UNUSED_EXTENSIONS: Final = ("_test", "_tkinter", "_xxtest", "_ctypes_test", "xxlimited", "_dbm", "_gdbm")
# Package files that are only needed for building or type checking.
SOURCES: Final = (".a", ".c", ".h", ".pxd", ".pxi", ".pyi", ".pyx")
TESTS: Final = ("test", "tests")
MODULES: Final = (".py", ".pyc")
TIME_ZONES: Final = "tzdata"  # archived although it contains data, because importlib.resources can read the data
# Files kept outside the standard library's archive: extensions, and a file that the interpreter uses to locate the
# library.
KEPT: Final = ("lib-dynload", "os.pyc")
# Modules whose source is read as a file: text for a kernel, and the reference implementation for screens.
READ: Final = ("ipykernel_setup.py", "_cdef.py", "_ffi.py")
PT_INTERP: Final = 3  # type of the segment with the dynamic linker's path (elf(5))
IMPORT_TIMEOUT: Final = 60.0  # s


class BundleError(Exception):
    """The bundle cannot be built on this machine. The message states what is missing."""


def ensure_bundle(bundles: Path) -> Path:
    """Return the bundle for the running version, building it if it is missing. Blocks.

    Args:
        bundles: The directory that holds the bundles. It is created if missing.

    Raises:
        BundleError: The bundle cannot be built on this machine.
    """
    python = Path(os.path.realpath(sys.executable))
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise BundleError("setpriv (from util-linux) is not installed")
    setpriv = os.path.realpath(setpriv)  # the bundle must not depend on symbolic links in PATH
    try:
        packages = sorted(_packages())
        bundle = bundles / _key(
            [python, Path(setpriv), *SCRIPTS, Path(__file__)], [*packages, *map(_ours, OUR_PACKAGES)]
        )
        if bundle.is_dir():
            return bundle
        bundles.mkdir(mode=0o755, parents=True, exist_ok=True)
        unfinished = bundles / f".{secrets.token_hex(8)}"
        try:
            _build(unfinished, python, Path(setpriv), packages)
            try:
                unfinished.rename(bundle)
            except OSError:
                if not bundle.is_dir():  # if it exists, another process has just built the same bundle
                    raise
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise BundleError(f"the bundle of the runtime cannot be built in {bundles}: {error}") from error
    return bundle


def command(mounted: str) -> list[str]:
    """Return the command that runs a module from the bundle. The caller appends the module and its arguments.

    Args:
        mounted: The path to the bundle in the container.
    """
    return [*linked(mounted), f"{mounted}/python/bin/python3", "-I", "-S", "-X", "utf8", f"{mounted}/start.py"]


def install_command(mounted: str, target: str, *, what: Literal["copy", "wait"] = "copy") -> list[str]:
    """Return the command that copies the bundle.

    Args:
        mounted: The path to the bundle in the container.
        target: The directory to copy the files into.
        what: `copy` to copy the bundle. `wait` to wait until SIGTERM, or exit with 1 if no other process starts copying
            the bundle within a minute.
    """
    python = [*linked(mounted), f"{mounted}/python/bin/python3", "-I", "-S", "-X", "utf8"]
    return [*python, f"{mounted}/install.py", what, target]


def linked(mounted: str) -> list[str]:
    """Return a command prefix that runs a program with the bundle's dynamic linker. Append the program's path."""
    return [f"{mounted}/ld", "--inhibit-cache", "--library-path", f"{mounted}/lib"]


# ---- building


def _build(bundle: Path, python: Path, setpriv: Path, packages: Iterable[Path]) -> None:
    os.makedirs(bundle, mode=0o755)
    standard = Path(sysconfig.get_path("stdlib"))
    library = bundle / "python" / "lib" / standard.name
    _copy_file(python, bundle / "python" / "bin" / "python3")
    _copy_file(setpriv, bundle / "bin" / "setpriv")
    for script in SCRIPTS:
        _copy_file(script, bundle / script.name)
    shutil.copytree(standard, library, ignore=_unused_of(standard))
    for package in (*packages, *map(_ours, OUR_PACKAGES)):
        if package.is_dir():
            shutil.copytree(package, bundle / "site" / package.name, ignore=_unused)
        else:
            _copy_file(package, bundle / "site" / package.name)
    linker = _linker(python)
    _copy_file(linker, bundle / "ld")
    packaged = [path for package in packages for path in _files(package) if ".so" in path.suffixes]
    extensions = [standard / "lib-dynload" / path.name for path in library.glob("lib-dynload/*.so")]
    for source in _libraries(linker, [python, setpriv, *extensions, *packaged]):
        if source not in packaged:
            _copy_file(source, bundle / "lib" / source.name)
    _strip(bundle)
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    for place in (library, bundle / "site"):
        compileall.compile_dir(place, quiet=2, legacy=True, invalidation_mode=unchecked, stripdir=str(bundle))
    for path in library.rglob("*.py"):
        if path.with_suffix(".pyc").exists():
            path.unlink()
    _archive(library.with_name(start.STANDARD), library, [path for path in library.iterdir() if path.name not in KEPT])
    modules = [path for path in (bundle / "site").iterdir() if _only_modules(path)]
    _archive(bundle / start.SITE, bundle / "site", modules)
    for path in (bundle / "site").rglob("*.py"):
        if path.with_suffix(".pyc").exists() and path.name not in READ:
            path.unlink()
    for directory, _, names in os.walk(bundle):  # makes the bundle readable by all users, regardless of the umask
        os.chmod(directory, 0o755)
        for name in names:
            file = Path(directory, name)
            file.chmod(0o755 if file.stat().st_mode & 0o100 else 0o644)


def _only_modules(path: Path) -> bool:
    """Return whether a package can be imported from an archive, unlike packages that open their files by path."""
    if path.suffix == ".dist-info" or not path.is_dir():
        return False
    return path.name == TIME_ZONES or all(
        file.suffix in MODULES or file.name == "py.typed" for file in path.rglob("*") if file.is_file()
    )


def _archive(target: Path, root: Path, paths: Iterable[Path]) -> None:
    """Move files and directories under `root` into an archive that modules can be imported from."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(paths):
            for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
                if file.is_file():
                    entry = zipfile.ZipInfo(str(file.relative_to(root)))  # dated 1980, so archives are reproducible
                    archive.writestr(entry, file.read_bytes())
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _ours(package: str) -> Path:
    """Return the directory of a hawse package. In a checkout, each package is in a separate directory."""
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def _copy_file(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


def _unused(directory: str, names: Sequence[str]) -> list[str]:
    return [name for name in names if name in ("__pycache__", *TESTS) or name.endswith(SOURCES)]


def _unused_of(standard: Path) -> Callable[[str, list[str]], list[str]]:
    def unused(directory: str, names: list[str]) -> list[str]:
        if Path(directory) == standard:
            return [name for name in names if name in UNUSED or name.startswith("config-") or name == "turtle.py"]
        if Path(directory).name == "lib-dynload":
            return [name for name in names if name.startswith(UNUSED_EXTENSIONS)]
        return _unused(directory, names)

    return unused


def _packages() -> Iterator[Path]:
    """Return the third-party packages that the runtime imports: top-level directories and modules in site-packages."""
    imported = subprocess.run(
        [sys.executable, "-I", "-c", IMPORTED, *{str(_ours(package).parent) for package in OUR_PACKAGES}],
        check=True,
        capture_output=True,
        text=True,
        timeout=IMPORT_TIMEOUT,
    )
    places = {Path(sysconfig.get_path(name)) for name in ("purelib", "platlib")}
    seen = set()
    for line in imported.stdout.splitlines():
        for place in places:
            if line and Path(line).is_relative_to(place):
                seen.add(place / Path(line).relative_to(place).parts[0])
    seen.update(_required((*KERNEL, *LOADED_LATER)))
    for path in seen:
        if path.name in (*OUR_PACKAGES, "_distutils_hack", "_virtualenv.py"):
            continue
        yield path
        if (libraries := path.with_name(f"{path.name}.libs")).is_dir():  # wheels put shared libraries there
            yield libraries


def _required(names: Iterable[str]) -> set[Path]:
    """Return the files in site-packages that belong to the named distributions and all of their installed
    dependencies."""
    found: set[Path] = set()
    seen = set(NOT_REQUIRED)
    waiting = list(names)
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop().lower())
        if name.replace("-", "_") in seen:
            continue
        seen.add(name.replace("-", "_"))
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # needed only on another system, or by code contexts, which are optional
        place = Path(os.path.abspath(str(distribution.locate_file(""))))
        tops = {file.parts[0] for file in distribution.files or ()}
        found |= {place / top for top in tops if top not in ("..", "__pycache__")}
        for requirement in distribution.requires or ():
            if "extra ==" not in requirement and (match := re.match(r"[\w.-]+", requirement)):
                waiting.append(match[0])
    return found


def _linker(program: Path) -> Path:
    """Return the dynamic linker's path from an ELF program (elf(5)). Raises `BundleError`."""
    data = program.read_bytes()
    if data[:4] != b"\x7fELF" or data[4] != 2 or data[5] != 1:
        raise BundleError(f"{program} is not a 64-bit little-endian ELF program")
    (headers,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    for index in range(count):
        kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", data, headers + index * size)
        if kind == PT_INTERP:
            return Path(os.fsdecode(data[offset : offset + length].rstrip(b"\0")))
    raise BundleError(f"{program} is linked statically")


def _libraries(linker: Path, programs: Iterable[Path]) -> set[Path]:
    """Return the shared libraries used by programs and extensions."""
    found: set[Path] = set()
    for program in programs:
        listed = subprocess.run([linker, "--list", program], capture_output=True, text=True, check=False)
        for line in listed.stdout.splitlines():
            path = line.partition("=>")[2].partition("(")[0].strip()
            if path.startswith("/"):
                found.add(Path(os.path.normpath(path)))
    return found


def _strip(bundle: Path) -> None:
    """Remove debug symbols if binutils is installed. Stripping reduces the size of the bundle from about 100 MB to 75
    MB."""
    if (strip := shutil.which("strip")) is None:
        return
    for path in _files(bundle):
        if ".so" in path.suffixes:
            subprocess.run([strip, "--strip-unneeded", path], check=False, capture_output=True)


def _key(files: Iterable[Path], trees: Iterable[Path]) -> str:
    """Return a hash of the files' names, sizes and modification times."""
    digest = hashlib.sha256(sys.version.encode())
    for path in (*files, *(path for tree in trees for path in _files(tree))):
        status = path.stat()
        digest.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:24]


def _files(tree: Path) -> list[Path]:
    if tree.is_file():
        return [tree]
    return sorted(path for path in tree.rglob("*") if "__pycache__" not in path.parts and path.is_file())
