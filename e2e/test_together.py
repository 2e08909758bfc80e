"""Working together at terminals: following another viewer, and asking for the keyboard."""

import pytest

import hawse
from e2e.axe import serious
from e2e.conftest import Open
from e2e.test_people import size, take_name
from e2e.view import View
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")

ROWS = "() => { const { viewportY, baseY } = window.hawse.terminal.buffer.active; return baseY - viewportY; }"
ACTIVE = "id => window.hawse.channel.address.id === id && window.hawse.state().terminal === 'live'"


async def pair(open_page: Open) -> tuple[View, View]:
    """Return the pages of Ada and Bob, at the terminal `main`."""
    ada, bob = await open_page(), await open_page()
    await take_name(ada, "Ada")
    await take_name(bob, "Bob")
    await ada.page.get_by_role("button", name="Follow Bob").wait_for()
    await bob.page.get_by_role("button", name="Follow Ada").wait_for()
    return ada, bob


async def test_a_viewer_follows_another_to_its_pane_and_scroll_position(open_page: Open) -> None:
    ada, bob = await pair(open_page)
    await ada.type("seq 500; echo d''one\n")
    await bob.until_text("done")
    await ada.until_prompt()  # what comes after this moves no row
    await bob.page.get_by_role("button", name="Follow Ada").click()
    marker = bob.page.locator(".following", has_text="Following Ada — Esc to stop")
    await marker.wait_for()
    await ada.page.evaluate("() => window.hawse.terminal.scrollLines(-40)")
    await bob.until(f"() => ({ROWS})() === 40")
    await ada.page.evaluate("() => window.hawse.terminal.scrollToBottom()")
    await bob.until(f"() => ({ROWS})() === 0")
    # Ada opens another terminal: Bob's page opens it as well, and leaves the size to her.
    await ada.page.set_viewport_size({"width": 900, "height": 600})
    await ada.page.get_by_role("button", name="New terminal").click()
    await ada.until("() => window.hawse.channel.address.id !== 'main'")
    await ada.until_live()
    other = await ada.page.evaluate("() => window.hawse.channel.address.id")
    await ada.run("seq 300; echo th''ere")
    await bob.until(ACTIVE, other)
    await bob.until_text("there")
    await ada.until_text("there")
    await ada.until_prompt()
    await ada.page.evaluate("() => window.hawse.terminal.scrollLines(-25)")
    await bob.until(f"() => ({ROWS})() === 25")
    await ada.settled()
    await bob.settled()
    assert await size(ada) == await size(bob)
    # Escape ends it and is not typed; what Ada does then changes nothing here.
    await bob.press("Escape")
    await marker.wait_for(state="hidden")
    assert (await bob.state())["inputEnd"] == 0
    await ada.page.evaluate("() => window.hawse.terminal.scrollToBottom()")
    await ada.run("echo an''other")
    await bob.until("() => window.hawse.terminal.buffer.active.baseY > 0")
    assert await bob.page.evaluate(ROWS) >= 25


async def test_a_user_who_has_only_a_file_open_is_seen_and_followed_there(open_page: Open, stack: Stack) -> None:
    ada, bob = await pair(open_page)
    async with hawse.connect(stack.base, token=stack.token) as hw:
        await hw.sandbox().files.write_text("notes.txt", "what Ada reads\n")
    await ada.page.goto(f"{stack.base}/?sandbox=local&layout=editor~path~notes.txt")
    await ada.page.get_by_text("what Ada reads").wait_for()
    # She sees herself and Bob, and Bob sees her: she is there once.
    await ada.page.get_by_role("button", name="you are Ada").wait_for()
    await ada.page.get_by_role("button", name="Follow Bob").wait_for()
    follow = bob.page.get_by_role("button", name="Follow Ada")
    await follow.wait_for()
    assert await follow.count() == 1
    await follow.click()
    await bob.page.get_by_text("what Ada reads").wait_for()
    await bob.page.locator(".following", has_text="Following Ada").wait_for()
    await take_only_name(ada, "Ada Lovelace")
    await bob.page.get_by_role("button", name="Follow Ada Lovelace").wait_for()
    assert ada.errors == bob.errors == []
    await ada.page.close()
    await bob.page.get_by_role("button", name="Follow Ada Lovelace").wait_for(state="detached")


async def take_only_name(view: View, name: str) -> None:
    """As `take_name`, on a page without a terminal."""
    await view.page.locator("#me").click()
    await view.page.get_by_label("Your name, shown to other viewers").fill(name)
    await view.press("Enter")


@pytest.mark.parametrize("act", ["type", "scroll", "leave"])
async def test_following_ends_with_the_own_input_or_with_the_other_viewer(open_page: Open, act: str) -> None:
    ada, bob = await pair(open_page)
    await ada.run("seq 300; echo d''one")
    await bob.until_text("done")
    await ada.until_prompt()  # what comes after this moves no row
    await bob.page.get_by_role("button", name="Follow Ada").click()
    marker = bob.page.locator(".following")
    await marker.wait_for()
    if act == "type":
        await bob.type("ec")
        await ada.until_text("ec")
    elif act == "scroll":
        await bob.page.mouse.move(400, 300)
        await bob.page.mouse.wheel(0, -400)
    else:
        await ada.page.close()
        await bob.page.get_by_text("Ada has left.").wait_for()
    await marker.wait_for(state="hidden")


async def test_a_followed_file_is_shown_and_a_preview_is_not_loaded(open_page: Open) -> None:
    ada, bob = await pair(open_page)
    await bob.page.get_by_role("button", name="Follow Ada").click()
    await bob.page.locator(".following").wait_for()
    await ada.page.evaluate(
        """() => window.hawse.client.call("file.write", { path: "plan.txt", text: "the plan" }, { sandbox: "local" })
             .catch(() => {})"""
    )
    presence = """view => window.hawse.client.call("terminal.presence",
      { id: "main", viewer: sessionStorage.getItem("hawse.viewer"), view }, { sandbox: "local" })"""
    await ada.page.evaluate(presence, "editor~path~plan.txt")
    await bob.page.locator(".pane.active[aria-label*='plan.txt']").wait_for()
    await ada.page.evaluate(presence, "preview~port~8000")
    await bob.page.get_by_text("Ada looks at something else").wait_for()
    await ada.page.evaluate(presence, "terminal~id~no-such-terminal")
    await bob.page.get_by_text("Ada looks at something else").wait_for()
    ids = await bob.page.evaluate(
        """async () => (await window.hawse.client.call("terminal.list", {}, { sandbox: "local" })).terminals
             .map(({ id }) => id)"""
    )
    assert ids == ["main"]  # it was not created


async def test_a_viewer_asks_for_the_keyboard_and_the_holder_keeps_it_and_then_gives_it(open_page: Open) -> None:
    ada, bob = await pair(open_page)
    await ada.choose("Type alone")
    await bob.page.locator("#held", has_text="Only Ada may type").wait_for()
    await bob.run("echo by b''ob")
    await bob.page.get_by_text("Only Ada may type, so your keys were not sent.").wait_for()
    await bob.page.get_by_role("button", name="Ask for the keyboard").last.click()
    request = ada.page.get_by_role("alert").filter(has_text="Bob asks for the keyboard")
    await request.get_by_role("button", name="Keep").click()
    await request.wait_for(state="hidden")
    await bob.page.get_by_text("Ada keeps the keyboard.").wait_for()
    ask = bob.page.locator("#ask")
    await ask.click()
    await request.wait_for()
    await ask.get_by_text("Asked").wait_for()
    assert await serious(ada.page) == await serious(bob.page) == []
    await ask.click()  # withdraws
    await request.wait_for(state="hidden")
    await ask.click()
    await request.get_by_role("button", name="Give").click()
    await bob.page.get_by_text("You have the keyboard. Only you may type.").wait_for()
    await ada.page.locator("#held", has_text="Only Bob may type").wait_for()
    await bob.run("echo now by b''ob")
    await ada.until_text("now by bob")
    assert "echo by" not in "\n".join(await ada.screen())
    # From the list of viewers, without a request.
    await bob.page.locator("#me").click()
    await bob.page.get_by_role("button", name="Give keyboard to Ada").click()
    await bob.page.locator("#held", has_text="Only Ada may type").wait_for()


async def test_a_view_only_page_follows_but_cannot_ask_for_the_keyboard(open_page: Open, stack: Stack) -> None:
    ada = await open_page()
    await take_name(ada, "Ada")
    await ada.run("seq 300; echo d''one")
    eve = await open_page(token=stack.viewer_token)
    await eve.until_text("done")
    await ada.choose("Type alone")
    await eve.page.locator("#held", has_text="Only Ada may type").wait_for()
    assert not await eve.page.locator("#ask").is_visible()
    assert not await eve.page.locator("#take-over").is_visible()
    code = await eve.page.evaluate(
        """() => window.hawse.client.call("terminal.lease",
             { id: "main", action: "ask", viewer: sessionStorage.getItem("hawse.viewer") }, { sandbox: "local" })
             .catch(error => error.code)"""
    )
    assert code == "forbidden"
    await eve.page.get_by_role("button", name="Follow Ada").click()
    await ada.page.evaluate("() => window.hawse.terminal.scrollLines(-30)")
    await eve.until(f"() => ({ROWS})() === 30")


async def test_an_agent_that_asks_is_shown_as_an_agent(open_page: Open, stack: Stack) -> None:
    ada = await open_page()
    await ada.choose("Type alone")
    async with (
        hawse.connect(stack.base, token=stack.token) as hw,
        hw.sandbox().terminals.attach("main", name="claude", kind="agent") as agent,
    ):
        await agent.ask()
        request = ada.page.get_by_role("alert").filter(has_text="claude (agent) asks for the keyboard")
        await request.get_by_role("button", name="Give").click()
        await ada.page.locator("#held", has_text="Only claude (agent) may type").wait_for()
        await agent.write(b"echo by an age''nt\r")
        await ada.until_text("by an agent")


async def test_the_rail_lists_people_at_all_terminals_and_leads_to_theirs(open_page: Open) -> None:
    ada, bob = await open_page(width=1440), await open_page("other")
    await take_name(bob, "<b>Bob</b>")
    await ada.press("Control+Shift+B")
    await ada.page.get_by_role("button", name="People", exact=True).click()
    people = ada.page.get_by_role("list", name="People at other")
    await people.get_by_text("<b>Bob</b>", exact=True).wait_for()
    await ada.page.get_by_role("list", name="People at main").get_by_role("listitem").wait_for()
    assert await serious(ada.page) == []
    await ada.page.get_by_role("button", name="other", exact=True).click()
    await ada.until(ACTIVE, "other")
    await bob.page.close()
    await people.get_by_text("<b>Bob</b>", exact=True).wait_for(state="hidden")


async def test_the_rail_follows_a_viewer_at_another_terminal_and_gives_the_keyboard(open_page: Open) -> None:
    ada, bob = await open_page(width=1440), await open_page("other")
    await take_name(ada, "Ada")
    await take_name(bob, "Bob")
    await bob.run("seq 300; echo d''one")
    await bob.until_text("done")
    await ada.press("Control+Shift+B")
    await ada.page.get_by_role("button", name="People", exact=True).click()
    own = ada.page.get_by_role("list", name="People at main").get_by_role("listitem").filter(has_text="Ada")
    await own.get_by_text("you", exact=True).wait_for()
    assert await own.get_by_role("button").count() == 0
    await ada.page.get_by_role("button", name="Follow Bob at other").click()
    await ada.page.locator(".following", has_text="Following Bob").wait_for()
    await ada.until(ACTIVE, "other")
    await ada.page.locator(".people-view [aria-pressed='true']", has_text="Following").wait_for()
    await bob.page.evaluate("() => window.hawse.terminal.scrollLines(-20)")
    await ada.until(f"() => ({ROWS})() === 20")
    await ada.page.get_by_role("button", name="Following Bob at other").click()
    await ada.page.locator(".following").wait_for(state="hidden")
    await ada.choose("Type alone")
    await ada.page.get_by_role("button", name="Give keyboard of other to Bob").click()
    await ada.page.locator("#held", has_text="Only Bob may type").wait_for()
    await bob.page.locator("#held").wait_for(state="hidden")  # until then his page still rejects input
    await bob.run("echo by b''ob")
    await ada.until_text("by bob")


async def test_beside_a_notebook_alone_the_header_shows_who_is_at_the_terminals(open_page: Open) -> None:
    bob = await open_page()
    await take_name(bob, "Bob")
    ada = await open_page("other")
    await ada.page.get_by_role("button", name="New…").click()
    await ada.page.get_by_role("menuitem", name="New notebook").click()
    await ada.page.get_by_role("textbox", name="Source of cell 1").wait_for()
    await ada.page.reload()  # the page has the notebook alone now
    await ada.page.get_by_role("textbox", name="Source of cell 1").wait_for()
    follow = ada.page.locator("#others").get_by_role("button", name="Follow Bob")
    await follow.wait_for()
    assert await serious(ada.page) == []
    await follow.click()
    await ada.page.locator(".following", has_text="Following Bob").wait_for()
    await ada.until(ACTIVE, "main")
