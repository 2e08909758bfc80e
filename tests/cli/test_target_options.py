import click
import pytest

from hawse.cli.target import Target
from hawse.cli.target_options import target_options


@click.command()
@target_options
def probe(target: Target) -> None:
    click.echo(f"{target.url} {target.token} {target.sandbox} {target.as_json}")


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    probe.main(arguments, standalone_mode=False)
    return capsys.readouterr().out.strip()


def test_options_select_gateway_and_sandbox(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, "--url", "http://a", "--token", "t", "-s", "box", "--json") == "http://a t box True"


def test_environment_variables_are_the_defaults(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HAWSE_URL", "http://env")
    monkeypatch.setenv("HAWSE_TOKEN", "e")
    monkeypatch.setenv("HAWSE_SANDBOX", "s")
    assert shown(capsys) == "http://env e s False"
