"""The entries a gateway writes to the audit log, read with `audit.list`."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from hawse.api.egress import EgressRefusal
from hawse.wire import HawseError
from hawse_gateway.audit.files import AuditFiles
from hawse_gateway.audit.log import AuditLog
from hawse_gateway.audit.trail import REFUSALS, AuditTrail
from tests.support.gateway import TOKEN, VIEWER_TOKEN, FakeRuntime, Gateway, Peer
from tests.support.http_clients import http_client


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with (
        FakeRuntime(tmp_path / "runtime.sock") as runtime,
        Gateway(runtime, audit=AuditFiles(tmp_path / "audit")) as served,
    ):
        yield served


async def listed(peer: Peer, **filters: Any) -> list[dict[str, Any]]:
    """Return the entries, the oldest first."""
    entries: list[dict[str, Any]] = (await peer.ask("audit.list", filters, sandbox=None))["entries"]
    return entries[::-1]


async def test_a_call_is_written_with_its_caller_its_target_and_its_outcome(gateway: Gateway) -> None:
    async with gateway.peer() as peer:
        with pytest.raises(HawseError, match="unknown_method"):
            await peer.ask("file.delete", {"path": "/a b", "recursive": True})
        (entry,) = await listed(peer, method="file.delete")
        host, port = peer.ws.local_address[:2]
        assert entry.pop("time") > 0
        assert len(entry.pop("request")) == 16
        assert entry.pop("position")
        assert entry == {
            **{"action": "file.delete", "outcome": "unknown_method", "user": "owner", "name": "owner"},
            **{"kind": "owner", "address": f"{host}:{port}", "sandbox": "local", "on": {"path": "/a b"}},
        }


@pytest.mark.parametrize(
    ("method", "params", "sandbox"),
    [
        ("mount.delete", {"mount": "m-1"}, None),
        ("recording.start", {"desktop": "main"}, "local"),
        ("code.interrupt", {"context": "c", "run": "r"}, "local"),
    ],
)
async def test_the_objects_of_a_call_are_named(
    gateway: Gateway, method: str, params: dict[str, Any], sandbox: str | None
) -> None:
    async with gateway.peer() as peer:
        with pytest.raises(HawseError):
            await peer.ask(method, params, sandbox=sandbox)
        (entry,) = await listed(peer, method=method)
    assert entry["on"] == params


async def test_secrets_are_not_written(gateway: Gateway, tmp_path: Path) -> None:
    secret = "hunter2-hunter2"
    async with gateway.peer() as peer:
        for method, params in (
            ("exec", {"argv": ["login", secret], "env": {"PASSWORD": secret}}),
            ("session.exec", {"id": "s", "command": f"echo {secret}"}),
            ("git.clone", {"url": f"https://me:{secret}@example.org/x", "credentials": {"password": secret}}),
            ("code.run", {"source": secret}),
            ("terminal.send", {"id": "main", "text": secret}),
        ):
            with pytest.raises(HawseError):
                await peer.ask(method, params)
        made = await peer.ask("token.create", {"role": "viewer"}, sandbox=None)
        entries = await listed(peer)
    (token,) = [one for one in entries if one["action"] == "token.create"]
    assert token["on"] == {"role": "viewer", "id": made["info"]["id"]}
    written = b"".join(path.read_bytes() for path in (tmp_path / "audit").iterdir())
    for text in (secret, made["token"], TOKEN):
        assert text.encode() not in written
    assert b"terminal.send" not in written


async def test_a_stream_is_recorded_when_it_starts_and_when_it_ends(gateway: Gateway) -> None:
    async with gateway.peer() as peer:
        with pytest.raises(HawseError):
            await peer.ask("terminal.attach", {"id": "main"})
        first, last = await listed(peer, method="terminal.attach")
        assert [first["outcome"], last["outcome"]] == ["open", "unknown_method"]
        assert first["request"] == last["request"]


async def test_a_call_whose_client_disconnects_is_written_as_cancelled(gateway: Gateway) -> None:
    async with gateway.peer() as owner:
        async with gateway.peer() as peer:
            await peer.call("hang")
            await peer.ask("answer")
        await gateway.until_clients_closed(1)
        (entry,) = await listed(owner, method="hang")
        assert entry["outcome"] == "cancelled"
        (gone,) = await listed(owner, method="disconnect")
        assert (gone["user"], gone["outcome"]) == ("owner", "disconnected")


async def test_a_call_that_is_refused_is_written_also_if_it_only_reads(gateway: Gateway) -> None:
    async with gateway.peer() as owner, gateway.peer(token=VIEWER_TOKEN) as viewer:
        with pytest.raises(HawseError, match="forbidden"):
            await viewer.ask("file.stat", {"path": "/etc/passwd"})
        (entry,) = await listed(owner, outcome="forbidden")
        assert (entry["action"], entry["user"], entry["kind"]) == ("file.stat", "viewer", "guest")
        assert entry["credential"] == "viewer"
        assert entry["on"] == {"path": "/etc/passwd"}


async def test_clients_without_a_valid_token_are_written_with_their_request(gateway: Gateway) -> None:
    async with http_client(gateway.url) as http, gateway.peer() as owner:
        response = await http.post("/v1/tickets?ticket=secret", headers={"Authorization": "Bearer guess"})
        (entry,) = await listed(owner, method="refused")
        assert (response.status_code, entry["outcome"]) == (401, "unauthenticated")
        assert entry["request"] == response.headers["x-request-id"]
        assert ("user" in entry, entry["on"]) == (False, {"path": "/v1/tickets"})
        with pytest.raises(ConnectionClosed):
            async with gateway.peer(token="guess"):
                pass
        assert (await listed(owner, method="refused"))[-1]["on"] == {"path": "/v1/connect"}


async def test_a_call_over_http_is_written_once(gateway: Gateway) -> None:
    headers = {"Authorization": f"Bearer {VIEWER_TOKEN}"}
    async with http_client(gateway.url, headers=headers) as http, gateway.peer() as owner:
        response = await http.post("/v1/sandboxes/local/file.mkdir", json={"path": "x"})
        assert response.status_code == 403
        (entry,) = [one for one in await listed(owner) if one.get("user") == "viewer" or one["action"] == "refused"]
        assert (entry["action"], entry["request"]) == ("file.mkdir", response.headers["x-request-id"])


async def test_refusals_of_one_address_cannot_fill_the_log(gateway: Gateway) -> None:
    async with http_client(gateway.url) as http, gateway.peer() as owner:
        for _ in range(REFUSALS + 40):
            await http.post("/v1/tickets")
        written = await listed(owner, method="refused", limit=1000)
        assert REFUSALS <= len(written) < REFUSALS + 40
        headers = {"Authorization": f"Bearer {TOKEN}"}
        metrics = (await http.get("/metrics", headers=headers)).text
        assert f'hawse_audit_entries_total{{result="suppressed"}} {REFUSALS + 40 - len(written)}' in metrics


async def test_the_end_of_a_lost_link_is_the_outcome_of_its_calls(gateway: Gateway) -> None:
    async with gateway.peer() as peer:
        with pytest.raises(HawseError):
            await peer.ask("die")
        (entry,) = await listed(peer, method="die")
        assert entry["outcome"] == "interrupted"


async def test_a_refusal_of_an_egress_proxy_is_written(tmp_path: Path) -> None:
    log = AuditLog(AuditFiles(tmp_path))
    async with log.running():
        refusal = EgressRefusal(time=4.0, reason="rule", host="evil.test", port=443, method="CONNECT")
        AuditTrail(log, clock=lambda: 5.0).egress("box", refusal)
        (entry,) = (await log.page(lambda entry: True, limit=10)).entries
    assert (entry.time, entry.action, entry.outcome, entry.user, entry.sandbox) == (5.0, "egress", "rule", "", "box")
    assert entry.on == {"host": "evil.test", "port": "443", "method": "CONNECT", "at": "4.000"}
