import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal

import click
import pytest

from hawse.cli import main
from hawse.cli.commands.serve import given, options
from hawse_gateway.core.settings import Option
from hawse_gateway.settings import Settings
from hawse_gateway.sign_on.settings import OidcSettings


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Settings, bool]]:
    """The settings that the gateway would get."""
    seen: list[tuple[Settings, bool]] = []
    server = ModuleType("hawse_gateway.server")

    def serve(settings: Settings, *, verbose: bool) -> int:
        seen.append((settings, verbose))
        return 7

    server.serve = serve  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "hawse_gateway.server", server)
    for name in ("HAWSE_TOKEN", "HAWSE_STATE", "HAWSE_LOG_FORMAT", "HAWSE_OIDC_CLIENT_SECRET"):
        monkeypatch.delenv(name, raising=False)
    return seen


def test_without_options_the_gateway_listens_on_loopback(served: list[tuple[Settings, bool]]) -> None:
    assert main(["serve"]) == 7
    ((settings, verbose),) = served
    assert settings == Settings()  # all defaults come from `Settings`
    assert not verbose


def test_options_reach_the_gateway(served: list[tuple[Settings, bool]]) -> None:
    main(
        "serve --host 0.0.0.0 --port 0 --token t --state /s --provider p --isolation none "
        "--allow-host a --allow-host b --allow-origin https://c --trust-proxy 10.0.0.0/8 --preview-host p.example "
        "--max-connections 3 --max-sandboxes 4 --store redis://r --pool 2 --templates /t.toml --idle-timeout 9 "
        "--start-timeout 45 "
        "--oidc-issuer https://id --oidc-role a=owner --oidc-role *=viewer --oidc-client-id me --tls-cert /c.pem "
        "--limit link:bytes=2M --user-network none --user-network filtered "
        "--quota 5 --max-contexts 6 --code-pool size=1 --code-pool bash:size=0 --log-format json -v".split()
    )
    ((settings, verbose),) = served
    expected: dict[str, Any] = {
        "state": Path("/s"),
        "host": "0.0.0.0",
        "port": 0,
        "token": "t",
        "provider": "p",
        "isolation": "none",
        "hosts": ("a", "b"),
        "origins": ("https://c",),
        "proxies": ("10.0.0.0/8",),
        "preview_host": "p.example",
        "max_connections": 3,
        "max_sandboxes": 4,
        "store": "redis://r",
        "pool": 2,
        "templates": Path("/t.toml"),
        "idle_timeout": 9.0,
        "start_timeout": 45.0,
        "limit": ("link:bytes=2M",),
        "user_networks": ("none", "filtered"),
        "quota": 5,
        "oidc": OidcSettings(issuer="https://id", roles=("a=owner", "*=viewer"), client_id="me"),
        "tls_cert": Path("/c.pem"),
        "max_contexts": 6,
        "code_pool": ("size=1", "bash:size=0"),
        "log_format": "json",
    }
    assert settings == Settings(**expected)
    assert verbose


def test_environment_variables_set_defaults_that_options_override(
    served: list[tuple[Settings, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HAWSE_TOKEN", "from the environment")
    monkeypatch.setenv("HAWSE_STATE", "/from/the/environment")
    monkeypatch.setenv("HAWSE_LOG_FORMAT", "json")
    main(["serve"])
    main(["serve", "--token", "t", "--state", "/s", "--log-format", "text"])
    assert [(s.token, s.state, s.log_format) for s, _ in served] == [
        ("from the environment", Path("/from/the/environment"), "json"),
        ("t", Path("/s"), "text"),
    ]


def test_an_empty_token_in_the_environment_is_ignored(
    served: list[tuple[Settings, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HAWSE_TOKEN", "")
    main(["serve"])
    assert served[0][0].token is None


@pytest.mark.parametrize("port", ["-1", "65536", "http"])
def test_an_invalid_port_is_refused(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--port", port]) == 2
    assert "--port" in capsys.readouterr().err


def test_every_setting_but_the_limits_has_an_option() -> None:
    declared = {option.name for option in options(Settings)}
    own = {field.name for field in dataclasses.fields(Settings)} - {"limits", "oidc"}
    assert declared == own | {f"oidc_{field.name}" for field in dataclasses.fields(OidcSettings)}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Colours:
    """Settings of each kind."""

    colour: Annotated[Literal["blue", "green"], Option("--colour", "the colour")] = "blue"
    spots: Annotated[Sequence[int], Option("--spot", "a spot", metavar="SIZE")] = ()
    shine: Annotated[bool, Option("--shine", "whether it shines")] = False
    share: Annotated[float | None, Option("--share", "its share")] = None
    file: Annotated[Path | None, Option("--file", "its file")] = None
    level: Annotated[int, Option("--level", "its level", environment="COLOUR_LEVEL", most=9)] = 1
    undeclared: str = "as it is"


@dataclasses.dataclass(frozen=True, kw_only=True)
class House:
    walls: Colours = dataclasses.field(default_factory=Colours)
    rooms: Annotated[int, Option("--rooms", "the rooms")] = 3


def parsed(*argv: str) -> House:
    command = click.Command("build", params=list(options(House)))
    house: House = given(House, command.make_context("build", list(argv)).params)
    return house


def test_an_option_has_the_type_of_its_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    assert parsed() == House()
    walls = Colours(colour="green", spots=(1, 2), shine=True, share=0.5, file=Path("/f"), level=9)
    argv = "--colour green --spot 1 --spot 2 --shine --share 0.5 --file /f --level 9 --rooms 0"
    assert parsed(*argv.split()) == House(walls=walls, rooms=0)
    monkeypatch.setenv("COLOUR_LEVEL", "7")
    assert parsed().walls.level == 7
    for wrong in (["--colour", "red"], ["--level", "10"], ["--spot", "x"], ["--undeclared", "x"]):
        with pytest.raises(click.UsageError):
            parsed(*wrong)


def test_the_help_states_the_defaults_of_the_settings(capsys: pytest.CaptureFixture[str]) -> None:
    main(["serve", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    defaults = Settings()
    for value in (
        defaults.host,
        defaults.port,
        defaults.provider,
        defaults.preview_host,
        defaults.max_connections,
        600,
    ):
        assert f"({value})" in shown
    assert f"({defaults.state})" in shown
