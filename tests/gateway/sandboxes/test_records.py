from pathlib import Path
from typing import Any

import pytest

from hawse.api.sandboxes import SandboxInfo
from hawse.wire import HawseError
from hawse_gateway.providers.base import Capabilities, Endpoint, SandboxSpec, TcpAddress
from hawse_gateway.sandboxes import records
from hawse_gateway.sandboxes.records import Failure, Rows, Run, SandboxRecord, Stored, describe
from hawse_gateway.sandboxes.steps import Step, next_step
from hawse_gateway.store.clock import Clock
from hawse_gateway.store.sqlite import SqliteStore

NOW = Clock().now()


def sandbox(**fields) -> SandboxRecord:
    given: dict[str, Any] = {
        "id": "a",
        "unit": "u",
        "provider": "p",
        "spec": SandboxSpec(),
        "wanted": "sleeping",
        "created": NOW,
    }
    return SandboxRecord(**(given | {"generation": "g"} | fields))


def run(**fields) -> Run:
    given: dict[str, Any] = {
        "unit": "u",
        "sandbox": "a",
        "provider": "p",
        "runtime": "r",
        "state": "running",
        "since": NOW,
    }
    return Run(**(given | {"generation": "g"} | fields))


CAPABILITIES = Capabilities(provider="p", isolation="none")


def shown_as(record: SandboxRecord, started: Run | None = None) -> SandboxInfo:
    return describe(Rows(Stored(record), None if started is None else Stored(started)), CAPABILITIES)


def test_a_run_of_a_deleted_sandbox_is_not_one_of_its_successor() -> None:
    rows = Rows(Stored(sandbox()), Stored(run(generation="earlier")))
    assert rows.live is None
    assert next_step(rows) is Step.STOP
    assert Rows(Stored(sandbox()), Stored(run())).live is not None


async def test_records_are_read_as_they_were_written(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    first, second = sandbox(spec=SandboxSpec(image="i", env={"A": "b"})), run(address="/s", token="t")
    await store.write(records.new(first), records.new(second))
    rows = await records.read(store, "a")
    assert rows.sandbox is not None
    assert rows.run is not None
    assert (rows.sandbox.value, rows.run.value) == (first, second)
    assert await records.read_many(store, ["a", "b"]) == {"a": rows, "b": Rows()}
    await store.write(rows.sandbox.delete())
    assert await records.read_many(store, ["u"]) == {"u": Rows(None, rows.run)}
    await store.close()


def test_a_changed_record_replaces_the_version_that_was_read() -> None:
    put = Stored(run(), 7).put(run(state="stopping"))
    assert (put.table, put.key, put.version) == ("runs", "u", 7)


@pytest.mark.parametrize("address", [Path("/run/socket"), TcpAddress("127.0.0.1", 80), TcpAddress("::1", 80)])
def test_an_address_is_restored(address: Path | TcpAddress) -> None:
    assert run(address=str(address), token="t").endpoint == Endpoint(address, "t")
    assert run().endpoint is None


def test_a_run_keeps_where_its_runtime_is_until_it_is_ended() -> None:
    endpoint = Endpoint(TcpAddress("10.0.0.1", 80), "t", certificate="PEM")
    placed = run().at(endpoint)
    assert placed.endpoint == endpoint
    ended = records.stopping(placed, NOW, "why")
    assert (ended.endpoint, ended.token, ended.certificate) == (None, None, None)


@pytest.mark.parametrize(
    ("wanted", "state", "shown"),
    [
        ("sleeping", None, "sleeping"),
        ("running", None, "starting"),
        ("running", "starting", "starting"),
        ("running", "running", "running"),
        ("stopped", "stopping", "stopping"),
        ("stopped", None, "stopped"),
        ("paused", "paused", "paused"),
        ("deleted", "running", "deleting"),
    ],
)
def test_the_state_that_clients_see_derives_from_both_rows(wanted: str, state: str | None, shown: str) -> None:
    info = shown_as(sandbox(wanted=wanted), None if state is None else run(state=state))
    assert info.state == shown


def test_a_failed_start_is_shown_with_its_reason_until_the_next() -> None:
    failure = Failure.of(HawseError("unavailable", "no disk", details={"retry_after": 1.0}))
    info = shown_as(sandbox(failure=failure))
    assert (info.state, info.reason, info.isolation) == ("failed", "no disk", "none")
    again = failure.to_exception()
    assert (again.code, again.message, again.details) == ("unavailable", "no disk", {"retry_after": 1.0})
    assert shown_as(sandbox(failure=failure, wanted="running"), run(state="starting")).state == "starting"
