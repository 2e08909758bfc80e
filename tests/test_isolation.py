"""Tests find only the programs of tests/debian-packages.txt and a HOME of their own; CI installs just that list."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support.isolation import LIST, ROOT, Watch, link_programs, read_list

PACKAGES = read_list(LIST.read_text("utf-8"))

FOREIGN_TEST = """
import subprocess

def test_by_path(): subprocess.run([{path!r}])
def test_by_name(): subprocess.run([{name!r}])
def test_in_a_shell(): subprocess.run(["sh", "-c", {name!r}], check=True)
def test_a_program_of_the_list(): subprocess.run(["/bin/sh", "-c", "true"], check=True)
"""


def test_every_line_names_a_package_its_programs_and_a_reason() -> None:
    assert PACKAGES
    for package in PACKAGES:
        assert re.fullmatch(r"[a-z0-9][a-z0-9+.-]+", package.name)
        assert all(re.fullmatch(r"[A-Za-z0-9._-]+", program) for program in package.programs)
        assert package.reason


def test_no_program_is_listed_twice() -> None:
    programs = [program for package in PACKAGES for program in package.programs]
    assert sorted(programs) == sorted(set(programs))


def test_tests_find_only_the_listed_programs_python_and_node() -> None:
    found = {path.name for path in Path(os.environ["PATH"]).iterdir()}
    assert found <= {program for package in PACKAGES for program in package.programs} | {"python", "python3", "node"}
    assert {"sh", "bash", "cat", "git", "python3"} <= found


def test_a_program_that_is_not_listed_has_no_link(tmp_path: Path) -> None:
    machine, links = tmp_path / "machine", tmp_path / "links"
    for folder in (machine, links):
        folder.mkdir()
    for name in ("listed", "unlisted"):
        (machine / name).write_text("#!/bin/sh\n")
        (machine / name).chmod(0o755)
    link_programs(links, ["listed", "missing"], str(machine))
    assert {path.name for path in links.iterdir()} == {"listed", "python", "python3"}


def test_a_test_that_runs_a_program_off_the_list_fails(tmp_path: Path) -> None:
    watch = Watch(Path(os.environ["PATH"]), [tmp_path])
    foreign = next(path for path in sorted(Path("/usr/bin").iterdir()) if watch.is_foreign(str(path)))
    test = tmp_path / "test_foreign.py"
    test.write_text(FOREIGN_TEST.format(path=str(foreign), name=foreign.name))
    options = ["-p", "tests.support.isolation", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(tmp_path)]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-rA", *options, str(test)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    outcomes = set(re.findall(r"^(PASSED|FAILED|ERROR) \S+::(\w+)", ran.stdout, re.M))
    assert outcomes == {
        ("PASSED", "test_by_path"),  # the program itself runs;
        ("ERROR", "test_by_path"),  # then the test is found to have started it
        ("FAILED", "test_by_name"),
        ("FAILED", "test_in_a_shell"),
        ("PASSED", "test_a_program_of_the_list"),
    }, ran.stdout
    assert f"programs that tests/debian-packages.txt does not name: {foreign}" in ran.stdout


def test_tests_have_a_home_and_a_temporary_directory_of_their_own() -> None:
    home, temporary = Path.home(), Path(tempfile.gettempdir())
    assert home.parent == temporary.parent
    assert home.parent.name.startswith("hawse-env-")
    assert not (home / ".bashrc").exists()


def test_ci_and_make_install_the_packages_of_the_list(tmp_path: Path) -> None:
    """Both run with programs in place of `apt-get` and `id`, and with no program of a package on PATH."""
    called = tmp_path / "called"
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "bash", "dirname", "sed", "sort", "tr", "xargs"):
        (tools / name).symlink_to(shutil.which(name) or name)
    for name, script in (("apt-get", f'echo "$@" >>{called}'), ("id", "echo 0")):
        (tools / name).write_text(f"#!/bin/sh\n{script}\n")
        (tools / name).chmod(0o755)
    copy = tmp_path / "copy"
    for path in ("scripts/lib.sh", "scripts/need_tools.sh", ".ci/run", "tests/debian-packages.txt"):
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, copy / path)
    (copy / "scripts" / "stages.sh").write_text("#!/bin/sh\n")
    (copy / "scripts" / "stages.sh").chmod(0o755)

    def installed(script: str) -> set[str]:
        called.write_text("")
        subprocess.run([copy / script], env={"PATH": str(tools)}, check=True, capture_output=True)
        install = next(line for line in called.read_text().splitlines() if line.startswith("install"))
        return {word for word in install.split()[1:] if not word.startswith("-") and "::" not in word}

    names = {package.name for package in PACKAGES}
    assert installed(".ci/run") == names
    # Scripts of their own find or install the browsers.
    present = {"bash", "dash", "sed", "chromium-headless-shell", "firefox-esr"}
    assert installed("scripts/need_tools.sh") == names - present


def test_stages_run_after_a_failure_and_are_summarized(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "stages.sh", tmp_path / "scripts")
    makefile = """
good last: ; @echo "== 3 passed in 1s =="
bad: ; @echo "FAILED tests/a.py::test_b"; echo "== 3 passed in 1s =="; exit 1
inner: ; @scripts/stages.sh bad last
"""
    (tmp_path / "Makefile").write_text(makefile)

    def stages(*names: str) -> tuple[int, list[str]]:
        environment = {name: value for name, value in os.environ.items() if name != "STAGES_SUMMARY"}
        ran = subprocess.run(
            [tmp_path / "scripts" / "stages.sh", *names], env=environment, capture_output=True, text=True, check=False
        )
        _, _, summary = ran.stdout.partition("---- results\n")
        return ran.returncode, [" ".join(line.split()) for line in re.sub(r" \d+ s ", " ", summary).splitlines()]

    row = "3 passed in 1s"
    assert stages("good", "last") == (0, [f"good passed {row}", f"last passed {row}", "hawse: all stages passed"])
    failed = [f"good passed {row}", f"bad FAILED {row}", f"last passed {row}"]
    failed += ["---- bad", "FAILED tests/a.py::test_b", "hawse: a stage failed"]
    assert stages("good", "bad", "last") == (1, failed)
    assert stages("good", "inner") == (1, failed)
