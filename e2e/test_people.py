"""Two viewers of one terminal: presence, a read-only viewer, taking over the writer lease, and the shared size."""

import pytest
from playwright.async_api import Browser, expect

import hawse
from e2e.conftest import Open
from e2e.view import WAIT, View
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")
expect.set_options(timeout=WAIT)


async def take_name(view: View, name: str) -> None:
    await view.page.locator("#me").click()
    await view.page.get_by_label("Your name, shown to other viewers").fill(name)
    await view.press("Enter")
    await view.until("name => window.hawse.state().people[0] === name", name)


async def size(view: View) -> tuple[int, int]:
    state = await view.state()
    return state["cols"], state["rows"]


async def test_viewers_see_who_is_present_who_types_and_who_has_left(open_page: Open) -> None:
    ada = await open_page()
    await take_name(ada, "Ada Lovelace")
    bob = await open_page()
    await take_name(bob, "Bob")
    await ada.until("() => window.hawse.state().people.join() === 'Ada Lovelace,Bob'")
    circle = ada.page.locator("#others .circle")
    await circle.wait_for()
    assert (await circle.text_content(), await circle.get_attribute("title")) == ("B", "Bob. Follow")
    await expect(bob.page.locator("#others .circle")).to_have_text("AL")
    await bob.type("x")
    await ada.page.locator("#others .circle.typing").wait_for()
    await ada.page.locator("#others .circle:not(.typing)").wait_for()
    await bob.page.mouse.move(400, 300)
    await ada.page.locator(".flag", has_text="Bob").wait_for()
    await bob.page.reload()
    await bob.until_live()
    await bob.until("() => window.hawse.state().people[0] === 'Bob'")
    await expect(circle).to_have_count(1)  # a reload does not add a viewer
    await bob.page.close()
    await circle.wait_for(state="detached")
    assert (await ada.state())["people"] == ["Ada Lovelace"]


async def test_a_read_only_page_shows_the_terminal_and_cannot_type(open_page: Open, stack: Stack) -> None:
    ada = await open_page()
    before = await size(ada)
    eve = await open_page(width=700, height=500, token=stack.viewer_token)
    await eve.page.locator("#read-only").wait_for()
    await ada.run("echo for all v''iewers")
    await eve.until_text("for all viewers")
    await eve.run("echo by e''ve")
    await eve.page.get_by_text("View only: you cannot type here.").wait_for()
    await ada.run("echo still h''ere")
    await eve.until_text("still here")
    assert "by eve" not in "\n".join(await eve.screen())
    assert await size(ada) == before == await size(eve)
    assert await eve.page.locator(".stage.letterboxed").count() == 1
    # The runtime enforces this, not only the page: input that the page sends anyway is rejected.
    await eve.page.evaluate("() => window.hawse.channel.send(new TextEncoder().encode('rm'))")
    await eve.page.locator(".failure-text", has_text="You are signed in, but").wait_for()
    code = await eve.page.evaluate(
        """() => window.hawse.client.call("exec", { command: "id" }, { sandbox: "local" }).catch(e => e.code)"""
    )
    assert code == "forbidden"


async def test_a_viewer_of_a_missing_terminal_is_not_offered_a_new_shell(browser: Browser, stack: Stack) -> None:
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(f"{stack.base}/?terminal=missing#token={stack.viewer_token}")
    await page.locator(".ended", has_text="only an owner can start it").wait_for()
    await page.get_by_role("button", name="Try again").wait_for()
    assert await page.get_by_role("button", name="New shell").count() == 0
    await context.close()


async def test_the_view_only_link_gives_access_without_a_token(open_page: Open) -> None:
    ada = await open_page()
    await ada.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await ada.choose("Copy view-only link")
    await ada.page.get_by_text("can view, but not type").wait_for()
    link = await ada.page.evaluate("() => navigator.clipboard.readText()")
    eve = await open_page(address=link)
    assert (await eve.page.evaluate("() => window.hawse.client.welcome.role")) == "viewer"
    assert "token" not in eve.page.url


async def test_a_guest_is_asked_for_a_name_once_and_may_decline(open_page: Open, stack: Stack) -> None:
    ada = await open_page()
    path = await ada.page.evaluate(
        """() => window.hawse.client.call("share.create", { sandbox: "local", terminal: "main" }).then(r => r.path)"""
    )
    guest, shy = await open_page(address=stack.base + path), await open_page(address=stack.base + path)
    question = guest.page.get_by_role("form", name="Your name")
    await expect(question).to_contain_text("Others see you as guest-")
    assert await guest.evaluate("() => document.activeElement.matches('.xterm-helper-textarea')")
    await question.get_by_role("textbox").fill("Grace")
    await guest.press("Enter")
    await expect(question).to_have_count(0)
    await ada.page.get_by_role("button", name="Follow Grace (guest").wait_for()
    await shy.page.get_by_role("form", name="Your name").get_by_role("button", name="Not now").click()
    await shy.page.reload()
    await shy.until_live()
    await shy.page.get_by_role("button", name="Follow Grace (guest").wait_for()  # loaded with the question
    await expect(shy.page.get_by_role("form", name="Your name")).to_have_count(0)


async def test_one_viewer_takes_the_lease_and_another_takes_over(open_page: Open) -> None:
    ada, bob = await open_page(), await open_page()
    await take_name(ada, "Ada")
    await take_name(bob, "Bob")
    await ada.choose("Type alone")
    await bob.page.locator("#held", has_text="Only Ada may type").wait_for()
    await bob.run("echo by b''ob")
    await bob.page.get_by_text("Only Ada may type, so your keys were not sent.").wait_for()
    await ada.run("echo by a''da")
    await bob.until_text("by ada")
    assert "by bob" not in "\n".join(await bob.screen())
    await bob.page.locator("#take-over").click()
    await ada.page.locator("#held", has_text="Only Bob may type").wait_for()
    await bob.page.locator("#held").wait_for(state="hidden")  # until then his page still rejects input
    await bob.run("echo now by b''ob")
    await ada.until_text("now by bob")
    # Input in flight when the lease changed is rejected, and the page continues.
    await ada.page.evaluate("() => window.hawse.channel.send(new TextEncoder().encode('too late'))")
    await ada.page.get_by_text("Not sent: only Bob may type").wait_for()
    await ada.until_live()
    await bob.choose("Type alone")
    await ada.page.locator("#held").wait_for(state="hidden")
    await ada.run("echo fr''ee")
    await bob.until_text("free")
    assert "too late" not in "\n".join(await bob.screen())


async def test_the_layout_does_not_follow_the_sizes_of_the_past(browser: Browser, stack: Stack) -> None:
    async with (
        hawse.connect(stack.base, token=stack.token) as hw,
        hw.sandbox().terminals.open("main", cols=80, rows=24) as terminal,
    ):
        for cols in range(60, 100):
            await terminal.resize(cols, 30)
            await terminal.run(f"echo {cols}")
    context = await browser.new_context()
    page = await context.new_page()
    await page.add_init_script(
        """
        window.layouts = 0;
        const count = () => { window.layouts += document.querySelector(".letterboxed") ? 1 : 0; };
        new MutationObserver(count).observe(document, { subtree: true, attributeFilter: ["class"] });
        """
    )
    await page.goto(f"{stack.base}/#token={stack.token}")
    view = View(page)
    await view.until_text("echo 99")
    await view.settled()
    await view.until("() => !document.querySelector('.letterboxed')")
    assert await page.evaluate("() => window.layouts") <= 5
    await context.close()


async def test_on_a_phone_the_facts_of_the_status_line_have_their_own_places(open_page: Open, stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        await hw.sandbox().exec("git init -qb a-branch-with-a-long-name; touch a", check=True)
    large = await open_page(width=1280, height=900)
    small = await open_page(width=390, height=844, touch=True)
    await large.type(" ")
    await small.page.get_by_role("button", name="Use mine").wait_for()
    overlaps = """() => {
      const facts = [...document.querySelectorAll(".status-line > *")].map(e => [e, e.getBoundingClientRect()])
        .filter(([, { width }]) => width > 0);
      return facts.flatMap(([a, { right }], at) =>
        facts.slice(at + 1).filter(([, { left }]) => left < right - 1).map(([b]) => [a.textContent, b.textContent]))
        .concat(facts.filter(([, { right }]) => right > innerWidth).map(([a]) => [a.textContent]));
    }"""
    assert await small.evaluate(overlaps) == []


# The names and buttons in a list that are cut off, leave it, or have more than two lines.
_UNFIT = """list => [...list.querySelectorAll("li bdi, li button")].filter(each => {
  const [box, line] = [each.getBoundingClientRect(), parseFloat(getComputedStyle(each).lineHeight) || 20];
  const { left, right } = list.getBoundingClientRect();
  const tall = each.matches("bdi") && box.height > 2.5 * line;
  return tall || box.left < left || box.right > right || each.scrollWidth > each.clientWidth + 1;
}).map(each => each.textContent)"""


async def test_the_longest_name_and_its_buttons_fit_into_the_lists_of_viewers(open_page: Open) -> None:
    ada, bob = await open_page(), await open_page()
    await take_name(ada, "Ada")
    await take_name(bob, "Wolfeschlegelsteinhausenbergerdorffwelch")  # 40 characters, the most there can be
    await ada.choose("Type alone")
    await bob.page.locator("#held").wait_for()
    await ada.page.locator("#me").click()
    roster = ada.page.get_by_role("list", name="Viewers", exact=True)
    await roster.get_by_role("button", name="Give keyboard to Wolfe").wait_for()
    assert await roster.evaluate(_UNFIT) == []
    await ada.press("Escape")
    await ada.press("Control+Shift+B")
    await ada.page.get_by_role("button", name="People", exact=True).click()
    people = ada.page.get_by_role("list", name="People at main")
    await people.get_by_role("button", name="Give keyboard of main to Wolfe").wait_for()
    assert await people.evaluate(_UNFIT) == []


async def test_the_size_of_a_page_is_used_when_its_user_asks_for_it(open_page: Open) -> None:
    large = await open_page(width=1280, height=900)
    small = await open_page(width=700, height=500)
    await large.type(" ")
    await small.page.locator(".stage.letterboxed").wait_for()
    await small.page.get_by_role("button", name="Use mine").click()
    await small.page.locator(".stage:not(.letterboxed)").wait_for()
    await large.page.locator(".stage.letterboxed").wait_for()
    assert await size(large) == await size(small)
    await large.page.get_by_role("button", name="Use mine").click()
    await large.page.locator(".stage:not(.letterboxed)").wait_for()
    await small.page.locator(".stage.letterboxed").wait_for()


async def test_the_size_follows_the_viewer_in_use_and_the_other_page_is_letterboxed(open_page: Open) -> None:
    large = await open_page(width=1280, height=900, webgl=True)
    large_size = await size(large)
    small = await open_page(width=700, height=500)
    await small.type(" ")
    for page in (large, small):
        await page.until("size => window.hawse.state().cols < size", large_size[0])
    small_size = await size(small)
    await large.page.locator(".stage.letterboxed").wait_for()
    await small.page.locator(".stage:not(.letterboxed)").wait_for()
    assert await size(large) == small_size
    await large.type(" ")
    await small.until("size => window.hawse.state().cols === size", large_size[0])
    await small.page.locator(".stage.letterboxed").wait_for()
    assert await size(small) == large_size
    await large.page.close()
    await small.until("size => window.hawse.state().cols === size", small_size[0])
