"""Texts that others have chosen: characters which are not seen, but change what is seen, are shown as such."""

import pytest
from playwright.async_api import Page, expect

import hawse
from e2e.conftest import Open
from e2e.test_people import take_name
from e2e.view import WAIT
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")
expect.set_options(timeout=WAIT)

BAD = "a\u202egnp.exe"  # shown as "aexe.png" by what follows the rules of bidirectional text
GOOD = "a\ufffdgnp.exe"

# Every text and every name of an element with such a character, outside of terminals and of text that is edited.
_FOUND = """() => {
  const hidden = /[\\u202a-\\u202e\\u2066-\\u2069\\u200b\\u0007\\u001b]/;
  const foreign = element => element.closest(".xterm, .cm-content, textarea, script, style");
  const found = [];
  const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { data, parentElement } = walker.currentNode;
    if (hidden.test(data) && !foreign(parentElement)) found.push(`text: ${parentElement.outerHTML}`);
  }
  for (const element of document.querySelectorAll("*"))
    for (const name of ["title", "aria-label", "alt", "placeholder", "aria-valuetext"])
      if (hidden.test(element.getAttribute(name) ?? "") && !foreign(element))
        found.push(`${name}: ${element.outerHTML}`);
  return hidden.test(document.title) ? [...found, `page: ${document.title}`] : found;
}"""

_START = """async ([bad]) => {
  const { client } = window.hawse;
  const call = (method, params) => client.call(method, params, { sandbox: "local" });
  await call("process.start", { id: "named", argv: ["sh", "-c", `: ${bad}; exec sleep 600`] });
  await call("terminal.create", { id: "other" });
  await call("recording.start", { terminal: "other", title: bad });
}"""


async def clean(page: Page, where: str) -> None:
    assert await page.evaluate(_FOUND) == [], where


async def test_no_name_changes_the_direction_of_a_text_in_any_view(open_page: Open, stack: Stack) -> None:
    view = await open_page(width=1440, height=900)
    guest = await open_page()
    page = view.page
    await take_name(guest, "Guest")  # the server removes such characters from the names of viewers
    async with hawse.connect(stack.base, token=stack.token) as hw:
        await hw.sandbox().files.write(f"{BAD}/{BAD}.txt", f"needle {BAD}\n".encode())
        await hw.sandbox().files.write(f"{BAD}.py", b"print(1)\n")
    await page.evaluate(_START, [BAD])
    # Title and directory, as programs set them.
    await view.run(f"cd $'{BAD}'; git init -q -b $'{BAD}' .; touch x; printf '\\e]2;t\\u202ex\\a'")
    await expect(page.locator(".status-line .directory")).to_contain_text(GOOD)
    await expect(page.locator(".status-line .branch")).to_contain_text(GOOD)
    await clean(page, "status line")
    await page.locator("#me").click()
    await expect(page.locator("#roster")).to_contain_text("Guest")
    await clean(page, "viewers")
    await page.keyboard.press("Escape")
    await page.keyboard.press("Control+Shift+B")
    rail = page.get_by_role("navigation", name="Views")
    for name in await rail.get_by_role("button").evaluate_all("buttons => buttons.map(button => button.ariaLabel)"):
        await rail.get_by_role("button", name=name).click()
        region = page.get_by_role("region", name=name)
        await expect(region.locator(".view")).to_be_visible()
        if name == "Search":
            await region.get_by_role("searchbox").first.fill("needle")
            await expect(region.locator(".results")).to_contain_text(GOOD)
        elif name == "Files":
            await region.get_by_text(GOOD, exact=True).click()
        elif name in ("Processes", "Recordings"):
            await expect(region).to_contain_text(GOOD)
        await clean(page, name)
    await page.keyboard.press("Control+Shift+P")
    await expect(page.get_by_role("dialog", name="Open a file")).to_contain_text(GOOD)
    await clean(page, "quick open")
    await page.get_by_role("option").filter(has_text=".py").click()
    await page.locator(".pane.active[aria-label*='gnp.exe.py']").wait_for()
    await clean(page, "editor")
    await page.goto(f"{stack.base}/home.html")
    await expect(page.locator(".faces")).to_have_count(1)
    await clean(page, "home")


async def test_the_title_of_a_terminal_cannot_pretend_to_be_another_one(open_page: Open) -> None:
    view = await open_page()
    await view.page.get_by_role("button", name="New terminal").click()
    await view.until("() => window.hawse.channel.address.id !== 'main'")
    await view.until_live()
    other = await view.evaluate("() => window.hawse.channel.address.id")
    tab = view.page.locator(f"#tab-of-{other}")
    # In one child: bash loses a Ctrl-C that comes between two commands of a line.
    await view.run("sh -c 'printf \"\\033]2;my work\\a\"; exec sleep 600'")
    await expect(tab).to_have_text("my work")
    await view.press("Control+C")
    await view.run("printf '\\e]2;Main\\u200b\\a'; echo s''et; sleep 600")
    await view.until_text("set")
    await expect(tab).to_have_text(other)
    assert other in await view.page.title()
