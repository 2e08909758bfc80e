"""Ports and their previews."""

import asyncio
import socket
import textwrap

import pytest

from hawse_runtime.ports.previews import LIMIT as EXPOSED_LIMIT, SECRET, new_token
from tests.support.ports import connected, listening
from tests.support.principals import PREVIEW, VIEWER
from tests.support.runtime import Client, Served

SECRET_LENGTH = 26  # characters that hold 128 bits in base 32


async def test_a_port_that_a_program_opens_is_listed(client: Client) -> None:
    assert (await client.ask("port.list"))["ports"] == []
    port = await listening(client, "quiet", "--host", "::1")
    (found,) = (await client.ask("port.list"))["ports"]
    assert found["port"] == port
    assert found["addresses"] == ["::1"]


async def test_what_an_executor_listens_on_for_itself_is_not_listed(client: Client) -> None:
    """A page offered a preview of it, for each notebook."""
    await client.ask("code.create", id="c")
    source = """
        import os, socket
        server = socket.create_server(("127.0.0.1", 0))
        public = socket.create_server(("0.0.0.0", 0))
        print(server.getsockname()[1], public.getsockname()[1])
    """
    run = client.call("code.run", {"context": "c", "source": textwrap.dedent(source)})
    await run.result()
    _, public = map(int, bytes(run.output).split())
    listed = (await client.ask("port.list"))["ports"]
    assert [found["port"] for found in listed] == [public]
    await client.ask("code.delete", context="c")


async def test_a_preview_has_a_token_that_cannot_be_guessed_and_stays(client: Client) -> None:
    first = await client.ask("port.expose", port=5173, name="web")
    assert SECRET == 16
    assert len(first["token"]) == SECRET_LENGTH
    assert first["token"].isalnum()
    assert first["token"] == first["token"].lower()
    assert await client.ask("port.expose", port=5173) == first, "again, it is the same"
    second = await client.ask("port.expose", port=5174)
    assert second["token"] != first["token"]
    assert (await client.ask("port.exposed"))["exposed"] == [first, second]


async def test_a_token_leads_to_its_port_until_it_is_taken_back(client: Client) -> None:
    port = await listening(client, "echo")
    token = (await client.ask("port.expose", port=port))["token"]
    channel = client.call("port.connect", {"token": token})
    channel.send(b"hello")
    await channel.seen(b"hello")
    plain = await connected(client, port)
    assert await client.ask("port.unexpose", port=port) == {}
    assert (await channel.refusal()).code == "not_found", "a connection through the preview is closed"
    assert not plain.closed, "a connection to the port itself is not"
    assert (await client.refused("port.connect", token=token)).code == "not_found"
    assert await client.ask("port.unexpose", port=port) == {}, "repeated, it has no effect"
    assert (await client.ask("port.expose", port=port))["token"] != token


async def test_a_token_that_never_existed_is_not_found(client: Client) -> None:
    for invented in ("a", "a" * SECRET_LENGTH, new_token()):
        assert (await client.refused("port.connect", token=invented)).code == "not_found"


async def test_a_token_can_be_chosen(client: Client) -> None:
    exposed = await client.ask("port.expose", port=5173, token="mypreview1")
    assert exposed["token"] == "mypreview1"
    assert await client.ask("port.expose", port=5173) == exposed
    assert (await client.refused("port.expose", port=5173, token="mypreview2")).code == "conflict"
    assert (await client.refused("port.expose", port=5174, token="mypreview1")).code == "conflict"
    for refused in ("short", "With-Dash0", "UPPERCASE", "a" * 41):
        assert (await client.refused("port.expose", port=5175, token=refused)).code == "invalid_params"


async def test_a_port_of_a_program_outside_the_sandbox_is_forbidden(client: Client) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:  # held by this process, as a gateway's would be
        port = listener.getsockname()[1]
        assert (await client.refused("port.expose", port=port)).code == "forbidden"
        assert (await client.refused("port.connect", port=port)).code == "forbidden"
    token = (await client.ask("port.expose", port=port))["token"]  # no program listens there now
    with socket.create_server(("127.0.0.1", port)):
        assert (await client.refused("port.connect", token=token)).code == "forbidden", "checked at each connection"


@pytest.mark.parametrize("params", [{}, {"port": 80, "token": "x"}, {"port": 0}, {"port": 65_536}, {"token": ""}])
async def test_parameters_without_exactly_one_port_or_token_are_refused(client: Client, params: dict) -> None:
    assert (await client.refused("port.connect", params)).code == "invalid_params"


async def test_concurrent_calls_to_expose_a_port_get_one_preview(client: Client) -> None:
    answers = await asyncio.gather(*(client.ask("port.expose", port=80) for _ in range(20)))
    assert len({answer["token"] for answer in answers}) == 1


async def test_the_number_of_previews_is_limited(client: Client) -> None:
    for port in range(1, EXPOSED_LIMIT + 1):
        await client.ask("port.expose", port=port + 1_000)  # below the ports of other tests (tests/support/stack.py)
    assert (await client.refused("port.expose", port=1)).code == "limit_exceeded"


async def test_a_viewer_learns_nothing(client: Client, served: Served) -> None:
    for method in ("port.list", "port.exposed", "port.watch"):
        call = client.call(method, principal=VIEWER)
        assert (await call.refusal()).code == "forbidden"


async def test_the_preview_principal_connects_only_with_a_token(client: Client) -> None:
    port = await listening(client, "echo")
    token = (await client.ask("port.expose", port=port))["token"]
    by_port = client.call("port.connect", {"port": port}, principal=PREVIEW)
    assert (await by_port.refusal()).code == "forbidden"
    by_token = client.call("port.connect", {"token": token}, principal=PREVIEW)
    await by_token.event("opened")
    assert (await client.call("port.list", principal=PREVIEW).refusal()).code == "forbidden"
