"""Isolates the tests from the machine: a separate HOME and TMPDIR, and only programs of tests/debian-packages.txt.

A pytest plugin, loaded by conftest.py. It creates a folder with one link for each program on the list and sets PATH to
that folder, so that a test, a shell in a terminal or a script finds nothing else. Programs that are started by path
bypass PATH: an audit hook (PEP 578) detects them, and the test fails. Each process of pytest-xdist has its own HOME and
TMPDIR, so that tests do not see files of tests that run in parallel. The option `--packages FILE` allows the programs
of another list as well.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIST = ROOT / "tests" / "debian-packages.txt"

# Settings of the developer's shell, editor and tools, which would change the behaviour of the programs under test.
PERSONAL = ("BASH_", "GIT_", "HIST", "LESS", "PROMPT", "PS1", "PYENV", "TMUX", "VIM", "XDG_", "ZSH")
PERSONAL_NAMES = {
    "EDITOR",
    "ENV",
    "INPUTRC",
    "MANPAGER",
    "PAGER",
    "VISUAL",
    "ZDOTDIR",
    "PYTHONSTARTUP",
    "PYTHONUNBUFFERED",
    "SHELL",
    "OLDPWD",
}
STARTS = {"subprocess.Popen": 0, "os.posix_spawn": 0, "os.exec": 0}  # audit event: index of the program's path


class Package(NamedTuple):
    """A line of the list."""

    name: str
    programs: tuple[str, ...]
    reason: str


def read_list(text: str) -> list[Package]:
    """Parse tests/debian-packages.txt."""
    lines = [line.split(maxsplit=2) for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [Package(name, () if programs == "-" else tuple(programs.split(",")), why) for name, programs, why in lines]


def link_programs(folder: Path, programs: Iterable[str], path: str) -> None:
    """Create a link in `folder` for each of `programs` that is found on `path`, and for Python and Node, which every
    machine needs."""
    for name in dict.fromkeys((*programs, "node")):  # both lists may contain the same package
        if found := shutil.which(name, path=path):
            (folder / name).symlink_to(found)
    python = os.path.realpath(sys.executable)  # a link to .venv/bin/python would lose the virtual environment
    for name in ("python", "python3"):
        (folder / name).symlink_to(python)


class Watch:
    """Records programs that are started by path and are not on the list."""

    def __init__(self, programs: Path, temporary: Iterable[str | Path]) -> None:
        self.found: list[str] = []
        self._allowed = {os.path.realpath(entry) for entry in programs.iterdir()}
        for browser in ("HAWSE_CHROMIUM", "HAWSE_FIREFOX"):
            if path := os.environ.get(browser):
                self._allowed.add(os.path.realpath(path))
        # The repository with its .venv, and files that the tests write. Not sys.base_prefix, which is /usr on Debian.
        own = (ROOT, *temporary)
        self._folders = tuple(os.path.realpath(folder) + "/" for folder in own)

    def audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        """An audit hook, called by the interpreter for each event (PEP 578)."""
        if event in STARTS:
            program = os.fsdecode(arguments[STARTS[event]])
            if self.is_foreign(program):
                self.found.append(program)

    def is_foreign(self, program: str) -> bool:
        """Return whether `program` is the path of an executable that is neither on the list nor part of the project."""
        if "/" not in program:  # found through PATH
            return False
        real = os.path.realpath(program)
        if real in self._allowed or real.startswith(self._folders):
            return False
        return os.path.isfile(real) and os.access(real, os.X_OK)


_watch = pytest.StashKey[Watch]()
_folder = pytest.StashKey[Path]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--packages", type=Path, metavar="FILE", help=f"a list of Debian packages beside {LIST.name}")


def pytest_configure(config: pytest.Config) -> None:
    """Set HOME, PATH and the rest of the environment, before the first test module is imported."""
    # Directly below /tmp even in pytest-xdist processes, because the path of a Unix socket has at most 107 bytes.
    machine = config.option.machine_temporary = getattr(config.option, "machine_temporary", tempfile.gettempdir())
    folder = config.stash[_folder] = Path(tempfile.mkdtemp(prefix="hawse-env-", dir=machine))
    home, temporary, programs = folder / "home", folder / "tmp", folder / "bin"
    for each in (home, temporary, programs):
        each.mkdir()
    for name in list(os.environ):
        if name.startswith(PERSONAL) or name in PERSONAL_NAMES:
            del os.environ[name]
    # Playwright's own browsers are below the developer's HOME.
    os.environ.setdefault("PLAYWRIGHT_BROWSERS_PATH", str(Path.home() / ".cache" / "ms-playwright"))
    lists = [LIST, *filter(None, [config.option.packages])]
    names = [
        program for file in lists for package in read_list(file.read_text("utf-8")) for program in package.programs
    ]
    link_programs(programs, names, os.environ["PATH"])
    os.environ |= {"HOME": str(home), "PATH": str(programs), "TMPDIR": str(temporary), "LANG": "C.UTF-8"}
    os.environ["PYTEST_DEBUG_TEMPROOT"] = machine  # tmp_path stays there for inspection after a failure
    tempfile.tempdir = None  # reset the cached folder
    watch = config.stash[_watch] = Watch(programs, (machine, config.option.basetemp or machine))
    sys.addaudithook(watch.audit)


def pytest_unconfigure(config: pytest.Config) -> None:
    if folder := config.stash.get(_folder, None):
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(autouse=True)
def only_listed_programs(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that has started a program that is not on the list."""
    watch = request.config.stash[_watch]
    watch.found.clear()
    yield
    assert not watch.found, f"programs that tests/debian-packages.txt does not name: {', '.join(watch.found)}"
