"""Creating, finding and watching sandboxes."""

import re
from typing import Any, cast

import pytest

from hawse.api.sandboxes import (
    SandboxCreate,
    SandboxDelete,
    SandboxDeleted,
    SandboxGet,
    SandboxInfo,
    SandboxList,
    SandboxListResult,
    SandboxPort,
    SandboxWatch,
    TemplateInfo,
    TemplateList,
    TemplateListResult,
)
from hawse.api.spec import Nothing
from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.sandbox.sandboxes import LANE, SandboxChange, Sandboxes, SandboxWatchCall
from hawse.wire import Event, HawseError
from hawse.wire.messages import to_raw


class Recorded:
    """A call table that notes requests, and answers with `results`, then with `result`, or raises `error`."""

    def __init__(self) -> None:
        self.requests: list[Any] = []
        self.undo: Any = None  # of the latest request
        self.result: Any = None
        self.results: list[Any] = []
        self.error: HawseError | None = None
        self.refusal: HawseError | None = None  # of ids that do not begin with "ada."

    async def request(self, params: Any, *, sandbox: str | None, undo: Any = None) -> Any:
        assert sandbox is None
        self.requests.append(params)
        self.undo = undo
        if self.error is not None and isinstance(params, SandboxDelete):
            raise self.error
        if self.refusal is not None and isinstance(params, SandboxCreate) and not (params.id or "").startswith("ada."):
            raise self.refusal
        return self.results.pop(0) if self.results else self.result


@pytest.fixture
def recorded() -> Recorded:
    return Recorded()


@pytest.fixture
def sandboxes(recorded: Recorded) -> Sandboxes:
    return Sandboxes(cast(CallTable, recorded), Options(), gateway="http://gateway")


async def test_creation_sends_all_arguments(sandboxes: Sandboxes, recorded: Recorded) -> None:
    box = await sandboxes.create(
        "a", image="debian", env={"A": "1"}, labels={"x": "y"}, ports=[SandboxPort(port=80)], timeout=5.0
    )
    assert box.id == "a"
    assert recorded.requests == [
        SandboxCreate(
            id="a", image="debian", env={"A": "1"}, labels={"x": "y"}, ports=[SandboxPort(port=80)], timeout=5.0
        )
    ]


async def test_the_client_chooses_the_id_so_that_a_repeated_call_makes_one_sandbox(
    sandboxes: Sandboxes, recorded: Recorded
) -> None:
    creation = sandboxes.create()
    await creation
    await creation
    assert re.fullmatch(r"s-[0-9a-f]{10}", recorded.requests[0].id)
    assert recorded.requests[0] == recorded.requests[1]


async def test_a_user_of_its_own_sandboxes_gets_an_id_that_begins_with_its_name(
    sandboxes: Sandboxes, recorded: Recorded
) -> None:
    recorded.refusal = HawseError("invalid_params", details={"path": "$.id", "prefix": "ada."})
    creation = sandboxes.create()
    async with creation as box:
        assert re.fullmatch(r"ada\.[0-9a-f]{10}", box.id)
        assert (await creation).id == box.id
    assert recorded.requests[-1] == SandboxDelete(id=box.id)
    with pytest.raises(HawseError, match="invalid_params"):
        await sandboxes.create("mine")


@pytest.mark.parametrize("details", [None, "ada.", {"path": "$.image"}, {"prefix": 1}])
async def test_other_refusals_of_a_creation_are_raised(
    sandboxes: Sandboxes, recorded: Recorded, details: object
) -> None:
    recorded.refusal = HawseError("invalid_params", details=details)
    with pytest.raises(HawseError, match="invalid_params"):
        await sandboxes.create()
    assert len(recorded.requests) == 1


@pytest.mark.parametrize("code", [None, "not_found", "cleanup_pending"])
async def test_leaving_the_context_deletes_the_sandbox(
    sandboxes: Sandboxes, recorded: Recorded, code: str | None
) -> None:
    recorded.error = None if code is None else HawseError(code)
    async with sandboxes.create("a") as box:
        assert box.id == "a"
        assert recorded.requests == [SandboxCreate(id="a")]
    assert recorded.requests[1:] == [SandboxDelete(id="a")]


async def test_a_deletion_that_fails_is_reported(sandboxes: Sandboxes, recorded: Recorded) -> None:
    recorded.error = HawseError("forbidden")
    with pytest.raises(HawseError, match="forbidden"):
        async with sandboxes.create("a"):
            pass


async def test_an_error_names_the_sandbox_and_only_one_with_a_random_id_is_deleted_after_it(
    sandboxes: Sandboxes, recorded: Recorded
) -> None:
    recorded.refusal = HawseError("unavailable", details={"retry_after": 1.0})
    for id in (None, "mine"):
        with pytest.raises(HawseError) as caught:
            await sandboxes.create(id)
        used = recorded.requests[-1].id
        assert caught.value.details == {"retry_after": 1.0, "sandbox": used}
        assert recorded.undo == (SandboxDelete(id=used) if id is None else None)


async def test_a_sandbox_is_found_and_listed(sandboxes: Sandboxes, recorded: Recorded) -> None:
    info = SandboxInfo(id="a", state="running")
    recorded.result = info
    assert await sandboxes.get("a") == info
    recorded.result = SandboxListResult(sandboxes=[info])
    assert await sandboxes.list(labels={"x": "y"}) == [info]
    assert recorded.requests == [SandboxGet(id="a"), SandboxList(labels={"x": "y"})]


async def test_all_pages_of_the_list_are_asked_for(sandboxes: Sandboxes, recorded: Recorded) -> None:
    infos = [SandboxInfo(id=id, state="running") for id in ("a", "b", "c")]
    recorded.results = [SandboxListResult(sandboxes=infos[:2], after="b"), SandboxListResult(sandboxes=infos[2:])]
    assert await sandboxes.list() == infos
    assert recorded.requests == [SandboxList(), SandboxList(after="b")]


async def test_the_templates_are_listed(sandboxes: Sandboxes, recorded: Recorded) -> None:
    recorded.result = TemplateListResult(templates=[TemplateInfo(name="python")])
    assert await sandboxes.templates() == recorded.result.templates
    assert recorded.requests == [TemplateList()]


async def test_a_watch_is_open_before_its_buffer_is_full_of_sandboxes() -> None:
    call = SandboxWatchCall(SandboxWatch(), window=65_536)
    call.opening()
    call.receive_event(Event(ch=1, name="changed", value=to_raw(SandboxInfo(id="a", state="running"))))
    assert call.opened.done()


async def test_a_watch_that_is_resumed_reports_what_has_changed_meanwhile() -> None:
    call = SandboxWatchCall(SandboxWatch(), window=65_536)

    def receive(name: str, value: Any) -> None:
        call.receive_event(Event(ch=1, name=name, value=to_raw(value)))

    async def changes(count: int) -> list[SandboxChange]:
        return [(await call.receive_buffer.get(LANE))[1] for _ in range(count)]  # type: ignore[misc]

    a, b = (SandboxInfo(id=id, state="running") for id in "ab")
    stopped = SandboxInfo(id="a", state="stopped")
    call.opening()
    receive("changed", a)
    receive("changed", b)
    receive("live", Nothing())
    assert await changes(2) == [SandboxChange("a", a), SandboxChange("b", b)]
    call.opening()  # b was deleted, and c created and deleted, while there was no connection
    receive("changed", a)
    receive("deleted", SandboxDeleted(id="c"))
    receive("live", Nothing())
    receive("changed", stopped)
    receive("deleted", SandboxDeleted(id="a"))
    receive("a later event", {})
    assert await changes(3) == [SandboxChange("b", None), SandboxChange("a", stopped), SandboxChange("a", None)]
