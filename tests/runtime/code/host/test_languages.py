"""Which kernel runs a language."""

import json
import os
import sys
from pathlib import Path

import pytest

from hawse_runtime.code.host.languages import Languages, Unavailable


@pytest.fixture(autouse=True)
def no_other_kernels(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))


def install(tmp_path: Path, name: str, language: str, *argv: str) -> None:
    folder = tmp_path / "jupyter" / "kernels" / name
    folder.mkdir(parents=True)
    spec = {"argv": [*argv, "{connection_file}"], "display_name": name.title(), "language": language}
    folder.joinpath("kernel.json").write_text(json.dumps(spec))


def test_python_needs_nothing_but_ipykernel() -> None:
    found = Languages().find("Python", None)
    assert (found.name, found.language) == ("python3", "python")


def test_a_language_is_found_by_the_specification_that_names_it(tmp_path: Path) -> None:
    install(tmp_path, "zeta", "Strange", sys.executable)
    assert Languages().find("strange", None).name == "zeta"
    assert Languages().find(None, "zeta").language == "strange"
    assert Languages().find("mine", "zeta").language == "mine"
    entries = [entry for entry in Languages().all() if entry.get("kernel") == "zeta"]
    assert entries == [{"language": "strange", "kernel": "zeta", "title": "Zeta"}]


def test_a_kernel_of_the_sandbox_comes_before_the_built_in_one(tmp_path: Path) -> None:
    install(tmp_path, "python3", "python", sys.executable, "-X", "mine")
    assert "mine" in Languages().find("python", None).spec.argv


def test_a_specification_whose_program_is_missing_does_not_count(tmp_path: Path) -> None:
    install(tmp_path, "zeta", "strange", "/no/such/program")
    with pytest.raises(Unavailable):
        Languages().find("strange", None)


def test_a_specification_that_is_not_valid_does_not_hide_the_others(tmp_path: Path) -> None:
    folder = tmp_path / "jupyter" / "kernels" / "broken"
    folder.mkdir(parents=True)
    folder.joinpath("kernel.json").write_text("{")
    install(tmp_path, "zeta", "strange", sys.executable)
    assert Languages().find("strange", None).name == "zeta"
    assert {entry["language"] for entry in Languages().all()} >= {"python", "strange"}


def test_deno_needs_no_specification(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Unavailable, match="npm install -g deno"):
        Languages().find("typescript", None)
    program = tmp_path / "bin" / "deno"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    for language in ("javascript", "typescript"):
        found = Languages().find(language, None)
        assert (found.name, found.language, found.spec.argv[0]) == ("deno", language, str(program))


def test_a_python_on_the_path_brings_its_kernels_and_runs_them_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "conda" / "bin" / "python"
    folder = tmp_path / "conda" / "share" / "jupyter" / "kernels" / "python3"
    program.parent.mkdir(parents=True)
    program.symlink_to(sys.executable)
    folder.mkdir(parents=True)
    argv = ["python", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    folder.joinpath("kernel.json").write_text(json.dumps({"argv": argv, "display_name": "C", "language": "python"}))
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    assert Languages().find("python", None).spec.argv == [str(program), *argv[1:]]


def test_the_built_in_python_is_started_with_the_command_of_the_runtime() -> None:
    languages = Languages(["/b/ld", "/b/python3", "-I", "/b/start.py"])
    languages.kernel_dirs = []  # as in a bundle, which has no specifications
    found = languages.find("python", None).spec.argv
    assert found == ["/b/ld", "/b/python3", "/b/start.py", "ipykernel", "-f", "{connection_file}"]


@pytest.mark.parametrize("name", ["missing", "..", "a/b"])
def test_a_kernel_that_is_not_installed_is_unavailable(name: str) -> None:
    with pytest.raises(Unavailable, match="installed"):
        Languages().find(None, name)
