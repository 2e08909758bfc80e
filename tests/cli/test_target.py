import socket
import subprocess
import sys

import click
import pytest

from hawse.cli import main
from hawse.cli.target import Pair, Target, failure
from hawse.client import Client, GaveUpError, Sandbox
from hawse.wire import HawseError
from tests.support.stack import Stack


def test_work_runs_with_a_connected_client_and_the_sandbox(gateway: Stack) -> None:
    async def work(client: Client, box: Sandbox) -> str:
        return (await box.exec(["echo", client.state.value])).text

    assert Target(url=gateway.base, token=gateway.token).run(work) == "open\n"


def test_an_error_of_a_call_becomes_a_message_with_its_code(gateway: Stack) -> None:
    async def work(client: Client, box: Sandbox) -> None:
        await box.processes.get("missing")

    with pytest.raises(click.ClickException, match="not_found"):
        Target(url=gateway.base, token=gateway.token).run(work)


def test_a_refused_token_is_explained() -> None:
    assert "hawse login" in failure(HawseError("unauthenticated", "no")).message


def test_an_error_says_what_to_do_next() -> None:
    assert "`hawse sandbox ls` lists them" in failure(HawseError("not_found", "unknown sandbox 'x'")).message
    assert "is the gateway running" in failure(GaveUpError("no connection")).message
    for other in ("not_found", "unavailable"):  # the gateway answers: it runs
        assert "(" not in failure(HawseError(other, "the sandbox has no Xvnc")).message


def test_an_address_that_is_no_url_is_reported() -> None:
    async def work(client: Client, box: Sandbox) -> None: ...

    with pytest.raises(click.ClickException, match="not a gateway URL"):
        Target(url="example").run(work)


def test_main_returns_the_exit_code_of_a_failure() -> None:
    assert main(["login", "nonsense", "--token", "t"]) == 1


def test_a_pair_is_split_at_its_first_equals_sign_and_has_a_name() -> None:
    assert Pair().convert("A=b=c", None, None) == ("A", "b=c")
    for text in ("A", "=b"):
        with pytest.raises(click.BadParameter, match="is not NAME=VALUE"):
            Pair().convert(text, None, None)


def refused_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


def test_a_gateway_that_refuses_the_connection_is_reported_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    port = refused_port()
    assert main(["ls", "--url", f"http://127.0.0.1:{port}"]) == 1
    shown = capsys.readouterr().err
    assert shown == (
        f"Error: unavailable: the connection to 127.0.0.1:{port} was refused "
        "(is the gateway running? `hawse login URL` or HAWSE_URL selects another; `hawse doctor` checks)\n"
    )


def test_with_patience_it_is_tried_again_and_the_user_reads_why(capsys: pytest.CaptureFixture[str]) -> None:
    port = refused_port()
    url = f"http://127.0.0.1:{port}"
    assert main(["ls", "--url", f"{url}/#token=secret", "--connect-timeout", "2"]) == 1
    first, *_ = capsys.readouterr().err.splitlines()
    assert first.startswith(f"connecting to {url}/: ")
    assert first.endswith(f"the connection to 127.0.0.1:{port} was refused; trying again")


def test_a_gateway_that_does_not_answer_is_named_after_a_while() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        argv = [sys.executable, "-m", "hawse.cli", "ls", "--url", url]
        with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as waiting:
            assert waiting.stderr is not None
            assert waiting.stderr.readline() == f"connecting to {url}\n"
            waiting.kill()


def test_control_characters_in_an_error_are_not_sent_to_the_terminal() -> None:
    assert failure(HawseError("not_found", "a\x1b[2J: b\nc")).message == "not_found: a\\x1b[2J: b\nc"
