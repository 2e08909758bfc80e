"""`code.watch`: the runs of a context, of all clients."""

import pytest

from tests.support.code import begin, create, end
from tests.support.runtime import Client, Served

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_the_runs_of_all_clients_are_watched_until_the_context_is_deleted(client: Client, served: Served) -> None:
    await create(client)
    watch = client.call("code.watch", {"context": "c"})
    assert (await watch.event("changed"))["runs"] == []

    def states() -> list[tuple[str, str | None]]:
        return [(run["state"], run["status"]) for run in watch.events[-1].value["runs"]]

    async with served.client() as agent:
        first = begin(agent, "input('Name? ')", stdin=True)
        asked = await first.event("input")
        await watch.until(lambda: watch.events[-1].value["context"].get("input"))
        assert watch.events[-1].value["context"]["input"] == asked
        assert (await client.ask("code.get", context="c"))["input"]["prompt"] == "Name? "
        second = begin(agent, "1 / 0")
        await watch.until(lambda: states() == [("running", None), ("waiting", None)])
        shown = watch.events[-1].value["runs"][0]
        attached = client.call("code.attach", {"context": "c", "run": shown["run"]})
        opened = await attached.event("opened")
        assert (opened["source"], (await first.event("opened"))["source"]) == ("input('Name? ')", None)
        await client.ask("code.answer", run=shown["run"], request=asked["request"], value="x")
        await watch.until(lambda: not watch.events[-1].value["context"].get("input"))
        assert (await end(second)).status == "error: ZeroDivisionError"
        await watch.until(lambda: states() == [("ended", "ok"), ("ended", "error")])
    await client.ask("code.restart", context="c")
    await watch.until(lambda: watch.events[-1].value["context"]["restarts"] == 1)
    await client.ask("code.delete", context="c")
    assert await watch.result() == {}
