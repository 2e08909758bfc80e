"""The operator's file, and the policies it allows."""

from pathlib import Path

import pytest

from hawse.api.egress import EgressPolicy
from hawse.wire import HawseError
from hawse_gateway.egress.settings import EgressSettings, EgressSettingsError, check_policy, read_egress_settings


def read(folder: Path, text: str) -> EgressSettings:
    path = folder / "egress.toml"
    path.write_text(text)
    return read_egress_settings(path)


def test_a_whole_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THE_TOKEN", "from-env")
    (tmp_path / "key").write_text("from-file\n")
    settings = read(
        tmp_path,
        f"""
networks = ["10.1.0.0/16", "fd00::/8"]
[addresses]
"git.internal" = "10.1.2.3"
[secrets.api]
hosts = ["api.test"]
header = "Authorization"
prefix = "Bearer "
env = "THE_TOKEN"
users = ["ann"]
[secrets.git]
hosts = ["git.internal:8443"]
basic = "x-token"
file = "{tmp_path / "key"}"
[secrets.maps]
hosts = ["*.maps.test"]
query = "key"
file = "{tmp_path / "key"}"
""",
    )
    api, git, maps = settings.secret_values(["api", "git", "maps"])
    assert (api.into, api.name, api.prefix, api.value) == ("header", "Authorization", "Bearer ", "from-env")
    assert (git.into, git.name, git.value) == ("basic", "x-token", "from-file")
    assert (maps.into, maps.name) == ("query", "key")
    (tmp_path / "key").write_text("renewed")
    assert settings.secret_values(["git"])[0].value == "renewed"


SECRET = '[secrets.a]\nhosts = ["api.test"]\n'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x = 1", "unknown field"),
        ("networks = ['10.0.0.1/8']", "host bits"),
        ("[addresses]\nA = '10.0.0.1'", "write 'A' as 'a'"),
        ("[addresses]\na = 'b'", "does not appear to be"),
        ("ca = '/nonexistent/ca'", "are unreadable"),
        (SECRET + "env = 'X'", "one of header, basic and query"),
        (SECRET + "header = 'A'\nquery = 'b'\nenv = 'X'", "one of header, basic and query"),
        (SECRET + "header = 'A'", "needs either env or file"),
        (SECRET + "header = 'A'\nenv = 'NOT_SET_ANYWHERE'", "the variable NOT_SET_ANYWHERE must have"),
        (SECRET + "header = 'A'\nfile = '/nonexistent/key'", "is unreadable"),
        (SECRET + "header = 'a b'\nenv = 'PATH'", "not a header"),
        (SECRET + "header = 'Host'\nenv = 'PATH'", "not a header"),
        (SECRET + "basic = 'a:b'\nenv = 'PATH'", "without a colon"),
        (SECRET + "query = ''\nenv = 'PATH'", "must not be empty"),
        (SECRET + "header = 'A'\nprefix = \"\\n\"\nenv = 'PATH'", "printable"),
        ('[secrets.a]\nhosts = ["127.1"]\nheader = "A"\nenv = "PATH"', "127.1"),
        ('[secrets.a]\nhosts = []\nheader = "A"\nenv = "PATH"', "length"),
        ("[", "."),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(EgressSettingsError, match=problem) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(f"--egress {tmp_path}")


def test_a_file_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EgressSettingsError, match="No such file"):
        read_egress_settings(tmp_path / "none")


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EgressSettings:
    monkeypatch.setenv("THE_TOKEN", "t")
    each = "hosts = ['a.test']\nheader = 'A'\nenv = 'THE_TOKEN'\n"
    return read(
        tmp_path, f"[secrets.anns]\n{each}users=['ann']\n[secrets.all]\n{each}users=['*']\n[secrets.none]\n{each}"
    )


@pytest.mark.parametrize(
    ("user", "granted", "secret", "allowed"),
    [
        ("ann", (), "anns", True),
        ("bob", (), "anns", False),
        ("bob", (), "all", True),
        ("ann", (), "none", False),
        ("bob", ("none",), "none", True),
        (None, (), "none", True),
        (None, (), "unknown", False),
        ("bob", ("unknown",), "unknown", False),
    ],
)
def test_who_may_use_a_secret(
    settings: EgressSettings, user: str | None, granted: tuple[str, ...], secret: str, *, allowed: bool
) -> None:
    policy = EgressPolicy(secrets=[secret])
    if allowed:
        check_policy(policy, settings, frozenset(granted), user)
    else:
        with pytest.raises(HawseError, match="you can use"):
            check_policy(policy, settings, frozenset(granted), user)


def test_a_rule_that_is_not_valid_is_refused(settings: EgressSettings) -> None:
    with pytest.raises(HawseError) as caught:
        check_policy(EgressPolicy(allow=["a..b"]), settings, frozenset(), None)
    assert caught.value.code == "invalid_params"


def test_a_secret_that_is_gone_is_unavailable() -> None:
    with pytest.raises(HawseError, match="no longer"):
        EgressSettings().secret_values(["gone"])
