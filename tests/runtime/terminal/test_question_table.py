"""The table of questions, without calls: states, limits, and what a settled question keeps."""

import msgspec
import pytest

from hawse.api.people import Question, TerminalAsk
from hawse.wire import HawseError, Principal
from hawse_runtime.terminal.question_table import SETTLED_KEPT, QuestionTable
from hawse_runtime.terminal.terminal import Terminal
from tests.support.runtime import Client, Served

ANNA = Principal(id="anna", name="Anna", kind="user", rights=("write",))
NAMELESS = Principal(id="x", name="", kind="user", rights=("write",))
TAKEOVER = TerminalAsk(id="t", reason="look", kind="takeover")


@pytest.fixture
async def terminal(client: Client, served: Served) -> Terminal:
    await client.terminal("exec sleep 1000")
    return served.runtime.terminals.get("t")


async def test_every_change_is_announced(terminal: Terminal) -> None:
    changes: list[None] = []
    table = QuestionTable(lambda: changes.append(None))
    question = table.get("t", table.ask(terminal, TAKEOVER, ANNA).id)
    table.claim(question, ANNA, release=False)
    table.claim(question, ANNA, release=True)
    settled = table.settle(question, "answered", "Anna")
    assert len(changes) == 4
    assert (settled.state, settled.by, table.asked) == ("answered", "Anna", [])
    assert table.settle(question, "refused", "Otto") == settled
    assert len(changes) == 4


async def test_a_settled_question_is_kept_for_a_while(terminal: Terminal) -> None:
    table = QuestionTable(lambda: None)
    first = table.ask(terminal, TAKEOVER, NAMELESS)
    assert first.caller == "x"
    table.refuse(table.get("t", first.id), ANNA)
    with pytest.raises(HawseError, match=f"question {first.id} was already refused by Anna"):
        table.get("t", first.id)
    for _ in range(SETTLED_KEPT):
        table.refuse(table.get("t", table.ask(terminal, TAKEOVER, ANNA).id), ANNA)
    with pytest.raises(HawseError, match="not_found"):
        table.get("t", first.id)


async def test_a_question_is_found_only_at_its_terminal(terminal: Terminal) -> None:
    table = QuestionTable(lambda: None)
    asked = table.ask(terminal, TAKEOVER, ANNA)
    assert table.get("t", asked.id).info == asked
    with pytest.raises(HawseError, match="not_found"):
        table.get("other", asked.id)
    assert (table.visible(["write@t"]), table.visible(["write@other"]), table.visible(["view"])) == ([asked], [], [])
    assert msgspec.convert(msgspec.to_builtins(asked), Question) == asked
