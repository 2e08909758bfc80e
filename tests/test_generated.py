"""The generated files are up to date with the method declarations."""

import json
from pathlib import Path

import pytest

from hawse.api import GATEWAY, METHODS
from hawse.api.files import FileWrite
from hawse.api.spec import EVERY_CALL
from scripts import generate


def test_all_generated_files_are_up_to_date() -> None:
    assert list(generate.stale()) == [], "run `make generate`"


def test_the_description_of_the_http_api_is_written_to_a_file(tmp_path: Path) -> None:
    assert generate.main(["--openapi", str(tmp_path / "openapi.json")]) == 0
    assert json.loads((tmp_path / "openapi.json").read_text())["openapi"].startswith("3.1")


def test_a_file_that_is_not_up_to_date_is_reported_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    monkeypatch.setattr(generate, "FILES", {"a.md": lambda: "new"})
    (tmp_path / "a.md").write_text("old")
    assert generate.main(["--check"]) == 1
    assert "a.md is out of date" in capsys.readouterr().err
    assert generate.main([]) == 0
    assert (tmp_path / "a.md").read_text() == "new"
    assert generate.main(["--check"]) == 0


def test_every_method_is_in_the_reference_and_in_the_typescript_types() -> None:
    reference, types = generate.reference(), generate.typescript()
    for name, spec in (METHODS | GATEWAY).items():
        assert f"\n### {name}\n" in reference
        assert f'  "{name}": {{\n    params: {spec.params.__name__};' in types


def test_a_method_is_described_with_its_parameters_streams_right_and_errors() -> None:
    entry = generate.reference().partition("\n### file.write\n")[2].partition("\n### ")[0]
    assert "| `path` | string (1 to 12,288 characters) | required |" in entry
    assert "| `mode` | integer (≥ 0, ≤ 4,095) or null |  |" in entry
    assert "- Event `opened`: [FileWriteOpened](#filewriteopened)" in entry
    assert "- Accepts bytes" in entry
    assert "- Right: `write`" in entry
    assert FileWrite.__doc__ is not None
    assert FileWrite.__doc__.strip().partition("\n")[0] in entry


def test_the_members_of_a_list_or_object_are_in_brackets_if_they_have_several_types() -> None:
    entry = generate.reference().partition("\n### process.start\n")[2].partition("\n### ")[0]
    assert "| `env` | object of (string or null) or null |" in entry
    assert "| `argv` | list of string (at least 1 item) or null |" in entry


def test_the_errors_of_every_call_are_listed_once() -> None:
    reference = generate.reference()
    section = reference.partition("\n### Errors of every call\n")[2].partition("\n### ")[0]
    assert [
        code for code in EVERY_CALL if reference.count(f"| `{code}` |") != 1 or f"| `{code}` |" not in section
    ] == []


def test_a_parameter_with_a_default_is_optional_in_typescript() -> None:
    entry = generate.typescript().partition("export interface FileStat {")[2].partition("}")[0]
    fields = [line.strip() for line in entry.splitlines() if line.strip() and not line.strip().startswith("/**")]
    assert fields == [
        *("path: string;", "root?: string | null;", "session?: string | null;"),
        *("follow?: boolean;", "detect?: boolean;"),
    ]


def test_types_are_named_once() -> None:
    names = [struct.cls.__name__ for struct in generate.structs()]
    assert len(names) == len(set(names))
