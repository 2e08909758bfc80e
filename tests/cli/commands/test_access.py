import json

import pytest

from hawse.cli import main
from tests.support.stack import Stack


def printed(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert main(list(argv)) == 0
    return capsys.readouterr().out.strip()


def test_a_token_is_created_used_listed_and_revoked(gateway: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    token = printed(
        capsys, "token", "create", "--name", "ci job", "--role", "viewer", "--only", "local", "--expires", "8h"
    )
    assert printed(capsys, "terminals", "--token", token)
    assert main(["ps", "--token", token]) == 1
    assert "forbidden" in capsys.readouterr().err
    (info,) = [one for one in json.loads(printed(capsys, "token", "ls", "--json")) if one["name"] == "ci job"]
    assert (info["role"], info["sandboxes"]) == ("viewer", ["local"])
    (line,) = [line for line in printed(capsys, "token", "ls").splitlines() if info["id"] in line]
    assert "local" in line
    assert token not in line
    assert printed(capsys, "token", "revoke", "--yes", info["id"]) == ""
    assert main(["terminals", "--token", token]) == 1
    assert "unauthenticated" in capsys.readouterr().err


def test_a_link_is_an_address_that_can_be_revoked(gateway: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    address = printed(capsys, "share", "create", "main", "--name", "Bob")
    assert address.startswith(f"{gateway.base}/?sandbox=local&terminal=main#token=hws_")
    assert main(["terminals", "--url", address, "--token", address.partition("#token=")[2]]) == 0
    capsys.readouterr()
    (info,) = json.loads(printed(capsys, "share", "ls", "--json"))
    assert (info["name"], info["terminal"], info["role"]) == ("Bob", "main", "viewer")
    assert info["id"] in printed(capsys, "share", "ls")
    printed(capsys, "share", "revoke", "--yes", info["id"])
    assert main(["share", "revoke", "--yes", info["id"]]) == 1
    assert "not_found" in capsys.readouterr().err
    printed(capsys, "share", "create", "main", "--uses", "2")
    assert "0 of 2" in printed(capsys, "share", "ls")


def test_the_json_of_a_link_has_its_address(gateway: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    made = json.loads(printed(capsys, "share", "create", "main", "--json"))
    assert made["url"] == gateway.base + made["path"]
    assert made["info"]["terminal"] == "main"


@pytest.mark.parametrize("kind", ["token", "share"])
def test_the_others_are_revoked_if_one_is_missing(
    gateway: Stack, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {one["id"] for one in json.loads(printed(capsys, kind, "ls", "--json"))}
    for _ in range(2):
        printed(capsys, kind, "create", *(["main"] if kind == "share" else []))
    one, other = {one["id"] for one in json.loads(printed(capsys, kind, "ls", "--json"))} - before
    assert main([kind, "revoke", "--yes", one, "missing", other]) == 1
    assert "Error: missing: not_found" in capsys.readouterr().err
    assert {one["id"] for one in json.loads(printed(capsys, kind, "ls", "--json"))} == before


@pytest.mark.parametrize("text", ["8", "0h", "h", "-1d", "1w", "1.5h"])
def test_a_duration_has_a_unit(gateway: Stack, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["token", "create", f"--expires={text}"]) == 2
    assert "is not a duration such as 90s, 15m, 8h or 30d" in capsys.readouterr().err
