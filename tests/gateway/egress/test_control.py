"""A gateway's requests to a proxy, with a server in place of a proxy of another version."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from hawse.api.egress import EgressPolicy
from hawse_gateway.egress import control
from hawse_gateway.egress.control import Request
from hawse_gateway.egress.plan import Terms
from hawse_gateway.egress.refusals import Ask

TERMS = Terms(policy=EgressPolicy(allow=["api.test"]))


def test_proxies_and_gateways_of_earlier_versions_are_understood() -> None:
    assert msgspec.json.decode(msgspec.json.encode(Ask(written=3)), type=Request) == Request(written=3)
    assert msgspec.json.decode(msgspec.json.encode(Request(kind="change", terms=TERMS)), type=Ask) == Ask()


@pytest.mark.parametrize("answer", [b'{"last": 0, "refusals": []}\n', b"nonsense\n", b""])
async def test_a_proxy_that_does_not_know_changes_is_an_error(tmp_path: Path, answer: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(answer)
        writer.close()

    server = await asyncio.start_unix_server(serve, str(tmp_path / "s"))
    with pytest.raises((OSError, msgspec.MsgspecError)):
        await control.change(tmp_path / "s", TERMS)
    server.close()


async def test_no_proxy_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        await control.status(tmp_path / "none")
    with pytest.raises(OSError):
        await anext(control.watch(tmp_path / "none", allowed=False))
