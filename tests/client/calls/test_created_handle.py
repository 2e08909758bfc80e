"""The base class of sessions and code contexts, as a session."""

import asyncio

import pytest

from hawse.api.sessions import SessionCreate
from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.process.process import Process
from hawse.client.process.session import Session
from hawse.wire import HawseError
from tests.support.client import MemoryConnection

INFO = {"id": "s", "instance": "first", "pid": 5, "shell": "/bin/sh"}


def prepare(id: str | None = None, *, create: bool = True) -> tuple[MemoryConnection, Session]:
    async def attach(id: str, **_: object) -> Process:
        raise AssertionError

    calls = CallTable(Options(dice=lambda: 0.0))
    session = Session(calls, "local", SessionCreate(id=id), create=create, window=1000, attach=attach)
    return MemoryConnection(calls), session


async def enter(connection: MemoryConnection, session: Session) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(session.__aenter__())
        await connection.until_called()
        connection.result(INFO)


async def leave(connection: MemoryConnection, session: Session, error: HawseError | None = None) -> None:
    """Leave it; its deletion, the second call, ends with `error` or with a result."""
    async with asyncio.TaskGroup() as group:
        group.create_task(session.__aexit__(None, None, None))
        await connection.until_called(2)
        if error is None:
            connection.result({})
        else:
            connection.error(error)


def methods(connection: MemoryConnection) -> list[str]:
    return [call.method for call in connection.calls]


async def test_entering_creates_it_under_a_new_id_and_leaving_deletes_it() -> None:
    connection, session = prepare()
    await enter(connection, session)
    assert connection.params["id"] == session.id
    assert (session.id[:2], session.instance) == ("s-", "first")
    await leave(connection, session)
    assert methods(connection) == ["session.create", "session.delete"]
    assert connection.params == {"id": session.id, "instance": "first"}


async def test_one_that_is_detached_or_existed_before_is_not_deleted() -> None:
    for create, called in ((True, "session.create"), (False, "session.get")):
        connection, session = prepare("s", create=create)
        await enter(connection, session)
        if create:
            session.detach()
        await session.__aexit__(None, None, None)
        assert methods(connection) == [called]
        assert (session.id, session.instance) == ("s", "first")


@pytest.mark.parametrize("code", ["not_found", "stale_handle"])
async def test_leaving_accepts_that_it_does_not_exist_any_more(code: str) -> None:
    connection, session = prepare()
    await enter(connection, session)
    await leave(connection, session, HawseError(code, "gone"))


async def test_another_error_of_the_deletion_is_raised() -> None:
    connection, session = prepare()
    await enter(connection, session)
    with pytest.raises(ExceptionGroup, match="unhandled") as raised:
        await leave(connection, session, HawseError("forbidden", "not yours"))
    assert [error.code for error in raised.value.exceptions if isinstance(error, HawseError)] == ["forbidden"]


@pytest.mark.parametrize(("id", "expected"), [(None, ["session.create", "session.delete"]), ("s", ["session.create"])])
async def test_after_a_failure_to_create_it_only_an_id_that_no_other_client_knows_is_deleted(
    id: str | None, expected: list[str]
) -> None:
    connection, session = prepare(id)
    with pytest.raises(ExceptionGroup):
        async with asyncio.TaskGroup() as group:
            group.create_task(session.__aenter__())
            await connection.until_called()
            connection.error(HawseError("spawn_failed", "no memory"))
    assert methods(connection) == expected
