import asyncio
import time

from hawse_gateway.metrics.loop_lag import BOUNDS, LoopLag
from hawse_gateway.metrics.prometheus_text import Exposition
from tests.support.waiting import TIMEOUT


async def test_the_delay_of_a_blocked_loop_is_recorded() -> None:
    lag = LoopLag(0.001)
    async with asyncio.timeout(TIMEOUT), asyncio.TaskGroup() as tasks:
        task = tasks.create_task(lag.run())
        await asyncio.sleep(0)  # the timer starts
        time.sleep(0.06)  # noqa: ASYNC251  # blocks the loop
        while not sum(lag.seconds.counts):  # noqa: ASYNC110  # nothing reports a sample
            await asyncio.sleep(0)
        task.cancel()
    assert sum(lag.seconds.counts[BOUNDS.index(0.05) + 1 :]) >= 1
    out = Exposition()
    await lag.collect(out)
    assert 'hawse_loop_lag_seconds_bucket{le="+Inf"}' in out.text()
