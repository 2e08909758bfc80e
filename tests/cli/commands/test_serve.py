import dataclasses
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from hawse.cli import main
from hawse.cli.commands.serve import serve
from hawse_gateway.settings import OidcSettings, Settings


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[tuple[dict[str, Any], bool]]:
    """The settings that the gateway would get."""
    seen: list[tuple[dict[str, Any], bool]] = []
    server, settings = ModuleType("hawse_gateway.server"), ModuleType("hawse_gateway.settings")

    def serve(settings: dict[str, Any], *, verbose: bool) -> int:
        seen.append((settings, verbose))
        return 7

    server.serve = serve  # type: ignore[attr-defined]
    settings.Settings = settings.OidcSettings = dict  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "hawse_gateway.server", server)
    monkeypatch.setitem(sys.modules, "hawse_gateway.settings", settings)
    for name in ("HAWSE_TOKEN", "HAWSE_STATE", "HAWSE_LOG_FORMAT", "HAWSE_OIDC_CLIENT_SECRET"):
        monkeypatch.delenv(name, raising=False)
    return seen


def test_without_options_the_gateway_listens_on_loopback(served: list[tuple[dict[str, Any], bool]]) -> None:
    assert main(["serve"]) == 7
    ((settings, verbose),) = served
    assert settings == {}  # all defaults come from `Settings`
    assert not verbose


def test_options_reach_the_gateway(served: list[tuple[dict[str, Any], bool]]) -> None:
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
    assert settings == {
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
        "oidc": {"issuer": "https://id", "roles": ("a=owner", "*=viewer"), "client_id": "me"},
        "tls_cert": Path("/c.pem"),
        "max_contexts": 6,
        "code_pool": ("size=1", "bash:size=0"),
        "log_format": "json",
    }
    assert verbose


def test_environment_variables_set_defaults_that_options_override(
    served: list[tuple[dict[str, Any], bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HAWSE_TOKEN", "from the environment")
    monkeypatch.setenv("HAWSE_STATE", "/from/the/environment")
    monkeypatch.setenv("HAWSE_LOG_FORMAT", "json")
    main(["serve"])
    main(["serve", "--token", "t", "--state", "/s", "--log-format", "text"])
    assert [(s["token"], s["state"], s["log_format"]) for s, _ in served] == [
        ("from the environment", Path("/from/the/environment"), "json"),
        ("t", Path("/s"), "text"),
    ]


def test_an_empty_token_in_the_environment_is_ignored(
    served: list[tuple[dict[str, Any], bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HAWSE_TOKEN", "")
    main(["serve"])
    assert "token" not in served[0][0]


@pytest.mark.parametrize("port", ["-1", "65536", "http"])
def test_an_invalid_port_is_refused(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--port", port]) == 2
    assert "--port" in capsys.readouterr().err


def test_every_setting_but_the_limits_has_an_option_of_its_own_name_or_plural() -> None:
    options = {parameter.name for parameter in serve.params} - {"verbose"}
    own = {field.name for field in dataclasses.fields(Settings)} - {"limits", "oidc"}
    assert options == own | {f"oidc_{field.name}" for field in dataclasses.fields(OidcSettings)}


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
