"""More than the limit can wait for a client that reads, within the budget of all clients."""

import asyncio

import pytest

from hawse_gateway.connection.backlog import Backlog, BacklogBudget


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hawse_gateway.connection.backlog.STALL_TIMEOUT", 0.0)


async def test_a_client_that_reads_nothing_while_too_much_waits_is_overdue(short: None) -> None:
    overdue = asyncio.Event()
    backlog = Backlog(BacklogBudget(), 100, overdue.set)
    assert backlog.update(100, progress=False)
    assert not backlog.exceeded
    await asyncio.sleep(0)
    assert not overdue.is_set()
    assert backlog.update(101, progress=False)
    assert backlog.exceeded
    await overdue.wait()


async def test_each_progress_starts_the_time_again() -> None:
    loop, timers = asyncio.get_running_loop(), list[asyncio.TimerHandle]()

    def call_later(delay: float, *args: object) -> asyncio.TimerHandle:
        timers.append(type(loop).call_later(loop, delay, *args))  # type: ignore[arg-type]
        return timers[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "call_later", call_later)
        backlog = Backlog(BacklogBudget(), 100, lambda: None)
        for progress in (False, False, True):
            backlog.update(200, progress=progress)
        assert [timer.cancelled() for timer in timers] == [True, False]
        backlog.update(100, progress=False)
        assert timers[-1].cancelled()
        backlog.update(200, progress=False)
        backlog.close()
        assert len(timers) == 3
        assert timers[-1].cancelled()


async def test_all_clients_share_the_budget_beyond_their_limits() -> None:
    budget = BacklogBudget(1000)
    first, second = (Backlog(budget, 100, lambda: None) for _ in range(2))
    assert first.update(900, progress=True)
    assert second.update(300, progress=True)
    assert budget.held == 1000
    assert not second.update(301, progress=True)
    assert first.update(800, progress=True)
    assert second.update(301, progress=True)
    first.close()
    second.close()
    assert budget.held == 0
