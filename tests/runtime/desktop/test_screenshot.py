"""Screenshots that are not read, cancelled, or too many."""

from hawse_runtime.desktop.methods import SCREENSHOTS_LIMIT
from tests.support.runtime import Client, Served


async def test_screenshots_that_are_not_read_are_bounded_and_keep_nothing_up(desktop: Client, served: Served) -> None:
    async with served.client(window=1) as slow:
        held = [slow.call("desktop.screenshot", {}, generous=False) for _ in range(SCREENSHOTS_LIMIT)]
        for call in held:
            await call.until(lambda: call.output)  # noqa: B023  # awaited here
        assert (await desktop.refused("desktop.screenshot")).code == "limit_exceeded"
        await desktop.ask("desktop.click", x=1, y=1)
        for call in held:
            call.cancel()
        for call in held:
            assert (await call.refusal()).code == "cancelled"
        again = desktop.call("desktop.screenshot", {})
        assert (await again.result())["size"] == len(again.output)


async def test_an_image_is_sent_as_its_reader_grants(desktop: Client, served: Served) -> None:
    async with served.client(window=100) as slow:
        call = slow.call("desktop.screenshot", {}, generous=False)
        await call.until(lambda: len(call.output) == 100)
        assert not call.closed
        call.generous = True
        call.grant(100)
        assert (await call.result())["size"] == len(call.output)
