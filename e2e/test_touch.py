"""Sizes of everything that can be touched: at least 44 px in both directions, in all views of a phone."""

from contextlib import AsyncExitStack

import pytest
from playwright.async_api import Browser, Page, expect

import hawse
from e2e.conftest import Open
from e2e.test_people import take_name
from e2e.view import WAIT, View
from tests.support.stack import Stack, free_port

pytestmark = pytest.mark.asyncio(loop_scope="session")
expect.set_options(timeout=WAIT)

# The elements that a finger can press, with the size of the area in which it meets each: what `elementFromPoint` gives
# to the element, its children or its label. Links within a sentence have the height of its lines, as WCAG 2.5.5 allows.
# Text that is edited, the screen of a terminal and the contents of frames belong to others.
_SMALL = """async () => {
  const NEEDED = 44, FAR = 44;
  const pressable = `button, a[href], input, select, textarea, summary, [tabindex="0"], [role="button"],
    [role="option"], [role="menuitem"], [role="menuitemcheckbox"], [role="treeitem"], [role="separator"], [role="tab"]`;
  const exempt = element =>
    element.closest(".xterm, .cm-editor, iframe, [inert]") ||
    element.matches(":disabled, p a, [role='tree'], .content");
  const dialogs = document.querySelectorAll("dialog[open], [popover]:popover-open");
  const root = dialogs.item(dialogs.length - 1) ?? document.body;
  const small = [];
  for (const element of root.querySelectorAll(pressable)) {
    if (exempt(element) || !element.checkVisibility({ visibilityProperty: true })) continue;
    const label = element.labels?.[0];
    const target = label && element.matches("[type='radio'], [type='checkbox']") ? label : element;
    target.scrollIntoView({ block: "center", inline: "nearest" });
    const hit = (x, y) => {
      const found = document.elementFromPoint(x, y);
      return !!found && (element.contains(found) || !!label?.contains(found));
    };
    const { left, right, top, bottom, width, height } = target.getBoundingClientRect();
    if (width < 2 || height < 2) continue; // the field of a file, which a button opens
    const x = Math.min(Math.max((left + right) / 2, 1), innerWidth - 1);
    const y = (top + bottom) / 2;
    if (!hit(x, y)) continue; // under something else
    const reach = (dx, dy) => {
      let n = 0;
      while (n < FAR && hit(x + dx * (n + 1), y + dy * (n + 1))) n++;
      return n;
    };
    const size = [reach(-1, 0) + reach(1, 0) + 1, reach(0, -1) + reach(0, 1) + 1];
    if (size[0] < NEEDED - 1 || size[1] < NEEDED - 1)
      small.push(`${size.join("×")} ${element.outerHTML.replace(/<svg.*?<\\/svg>/gs, "").slice(0, 150)}`);
  }
  return small;
}"""


class Walk:
    """Collects what is too small, by view."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.small: dict[str, list[str]] = {}

    def check(self) -> None:
        assert not self.small, "\n".join(f"{view}: {each}" for view, found in self.small.items() for each in found)

    async def look(self, view: str) -> None:
        await self.page.evaluate(
            """async () => {
              await document.fonts.ready;
              const moving = document.getAnimations().filter(each => each.effect.getComputedTiming().iterations === 1);
              await Promise.allSettled(moving.map(each => each.finished));
            }"""
        )
        if small := await self.page.evaluate(_SMALL):
            self.small[view] = small
        assert await self.page.evaluate("() => document.documentElement.scrollWidth") == 390, view


async def phone(open_page: Open) -> tuple[View, Walk]:
    view = await open_page(width=390, height=844, touch=True)
    assert await view.evaluate("() => matchMedia('(pointer: coarse)').matches")
    return view, Walk(view.page)


async def rail(page: Page, name: str) -> None:
    views = page.get_by_role("navigation", name="Views")
    if not await views.is_visible():
        await page.get_by_role("button", name="Rail").click()
    button = views.get_by_role("button", name=name, exact=True)
    if await button.get_attribute("aria-expanded") != "true":
        await button.click()
    await expect(page.get_by_role("region", name=name).locator(".view")).to_be_visible()


async def test_the_terminal_its_menus_and_dialogs_are_large_enough_for_a_finger(open_page: Open) -> None:
    bob = await open_page()
    await take_name(bob, "Bob")
    view, walk = await phone(open_page)
    page = view.page
    await page.get_by_role("button", name="Follow Bob").wait_for()
    await view.run("seq 300; ls /; echo do''ne")
    await view.until_text("done")
    await walk.look("terminal")
    await page.locator("#keys button:visible").get_by_text("···").click()
    await walk.look("second page of keys")
    await page.locator("#me").click()
    await walk.look("viewers")
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="Follow Bob").click()
    await page.locator(".following").wait_for()
    await walk.look("following")
    await page.locator(".following").get_by_role("button", name="Stop").click()
    await page.get_by_role("button", name="More", exact=True).click()
    await walk.look("menu")
    await page.keyboard.press("Escape")
    for keys, name in (
        ("Control+Shift+K", "Find a command"),
        ("Control+Shift+?", "Keyboard shortcuts"),
        ("Control+,", "Settings"),
        ("Control+Shift+F", ""),
    ):
        await page.keyboard.press(keys)
        shown = page.get_by_role("dialog", name=name) if name else page.get_by_label("Find in the terminal")
        await shown.wait_for()
        await walk.look(name or "find")
        await page.keyboard.press("Escape")
    await page.locator("#share").click()
    await page.get_by_role("button", name="Create link").click()
    await page.get_by_role("button", name="Revoke").wait_for()
    await walk.look("share")
    await page.keyboard.press("Escape")
    await page.locator("#sandboxes").click()
    await page.get_by_role("dialog", name="Sandboxes").get_by_role("link", name="local").wait_for()
    await walk.look("sandboxes")
    await page.get_by_role("button", name="New sandbox").click()
    await walk.look("new sandbox")
    await page.keyboard.press("Escape")
    await page.keyboard.press("Escape")
    # The keyboard, of which another viewer and then this one is the holder.
    await bob.choose("Type alone")
    await page.locator("#held").wait_for()
    await page.locator(".xterm-helper-textarea").first.focus()
    await view.type("x")
    await page.get_by_role("button", name="Ask for the keyboard").last.wait_for()
    await walk.look("refusal")
    await page.locator("#ask").click()
    await bob.page.get_by_role("alert").get_by_role("button", name="Give").click()
    await bob.page.locator("#ask").click()
    await page.get_by_role("alert").filter(has_text="Bob asks").wait_for()
    await walk.look("request")
    await page.get_by_role("alert").get_by_role("button", name="Keep").click()
    walk.check()


async def test_panes_and_the_ends_of_shells_are_large_enough_for_a_finger(open_page: Open, stack: Stack) -> None:
    view, walk = await phone(open_page)
    page = view.page
    for number in (1, 2):
        await view.choose("Split down")
        await expect(page.locator(".divider")).to_have_count(number)
        await view.until_live()
    await walk.look("splits")
    await view.run("exit")
    await page.get_by_role("button", name="New shell here").wait_for()
    await walk.look("an ended shell")
    await page.get_by_role("button", name="Show output").click()
    await walk.look("its output")
    await page.get_by_role("button", name="New terminal").click()
    await view.until_live()
    await walk.look("tabs")
    await view.run("sleep 1000")
    await view.until(
        """async () => {
          const { client } = window.hawse;
          const { terminals } = await client.call("terminal.list", {}, { sandbox: "local" });
          const asked = terminals.map(({ id }) => client.call("terminal.history", { id }, { sandbox: "local" }));
          return JSON.stringify(await Promise.all(asked)).includes("sleep 1000");
        }"""
    )
    await page.locator(".tabs li.current button").click()
    await page.get_by_role("alertdialog").wait_for()
    await walk.look("question")
    await page.get_by_role("button", name="Keep").click()
    await page.context.set_offline(True)
    await page.get_by_role("button", name="Retry now").wait_for()
    await walk.look("offline")
    walk.check()


async def test_the_views_of_the_rail_are_large_enough_for_a_finger(open_page: Open, stack: Stack) -> None:
    view, walk = await phone(open_page)
    page = view.page
    port = free_port()
    async with AsyncExitStack() as exits:
        hw = await exits.enter_async_context(hawse.connect(stack.base, token=stack.token))
        box = hw.sandbox()
        script = "git init -q; mkdir -p src; echo '# Title' > src/readme.md; git add .; echo 'find me' > found.txt"
        await box.exec(script, check=True)
        await exits.enter_async_context(box.processes.start("echo ready; exec sleep 1000", id="web"))
        server = ["python3", "-m", "http.server", str(port), "--bind", "127.0.0.1"]
        await exits.enter_async_context(box.processes.start(server, id="server"))
        await page.locator("#port").wait_for()
        await walk.look("a port has opened")
        await rail(page, "Files")
        await page.get_by_role("treeitem", name="src").click()
        await page.get_by_role("treeitem", name="readme.md").wait_for()
        await walk.look("files")
        await page.get_by_role("treeitem", name="readme.md").click()
        await page.locator(".pane.active .editor").wait_for()
        await walk.look("editor")
        await rail(page, "Search")
        await page.get_by_role("searchbox").first.fill("find me")
        await page.locator(".hit").wait_for()
        await walk.look("search")
        await rail(page, "Processes")
        await page.get_by_role("button", name="Stop web").wait_for()
        await walk.look("processes")
        await page.get_by_role("button", name="Log of web").click()
        await page.locator(".log").wait_for()
        await walk.look("log")
        await rail(page, "Ports")
        await page.get_by_role("button", name=f"Expose: port {port}").click()
        await page.get_by_role("button", name=f"QR code: port {port}").wait_for()
        await walk.look("ports")
        await page.get_by_role("button", name=f"QR code: port {port}").click()
        await page.get_by_role("dialog", name=f"Preview of port {port}").wait_for()
        await walk.look("QR code")
        await page.keyboard.press("Escape")
        await page.get_by_title(f"Open the preview of port {port}").click()
        await page.locator(".pane.active .preview, .pane.active iframe").first.wait_for()
        await walk.look("preview")
        await rail(page, "Recordings")
        await page.get_by_role("textbox", name="Title of a new recording").fill("A recording")
        await page.keyboard.press("Enter")
        await page.get_by_role("button", name="Stop recording: A recording").wait_for()
        await walk.look("recordings")
        await page.get_by_role("button", name="Stop recording: A recording").click()
        await page.get_by_role("button", name="A recording").first.click()
        await page.get_by_role("button", name="Play", exact=True).wait_for()
        await walk.look("recording")
        await rail(page, "People")
        await page.get_by_role("list", name="People at main").wait_for()
        await walk.look("people")
        await page.get_by_role("button", name="Rail").click()
        await view.choose("New notebook")
        await page.get_by_role("textbox", name="Source of cell 1").wait_for()
        await walk.look("notebook")
    walk.check()


async def test_home_sign_in_and_the_page_of_a_recording_are_large_enough_for_a_finger(
    browser: Browser, stack: Stack
) -> None:
    context = await browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = await context.new_page()
    walk = Walk(page)
    for path in ("/", "/home.html"):
        await page.goto(f"{stack.base}{path}")
        await page.get_by_label("Access token").wait_for()
        await walk.look(f"sign in at {path}")
    await page.get_by_label("Access token").fill(stack.token)
    await page.keyboard.press("Enter")
    await page.get_by_role("button", name="Stop local").wait_for()
    await walk.look("home")
    await page.get_by_role("button", name="New sandbox").click()
    await walk.look("home: new sandbox")
    await page.get_by_role("button", name="Stop local").click()
    await page.get_by_role("button", name="Delete local").click()
    await page.get_by_role("button", name="Keep").wait_for()
    await walk.look("home: delete")
    async with hawse.connect(stack.base, token=stack.token) as hw:
        async with hw.sandboxes.watch() as changes:  # the page's call may not have stopped it yet
            async for change in changes:
                if change.id == "local" and change.info is not None and change.info.state == "stopped":
                    break
        await hw.call("sandbox.start", {"id": "local"})
        await hw.call("terminal.create", {"id": "main"}, sandbox="local")
        recording = await hw.call("recording.start", {"terminal": "main"}, sandbox="local")
        await hw.call("recording.stop", {"id": recording["id"]}, sandbox="local")
    await page.goto(f"{stack.base}/recording.html?sandbox=local&recording={recording['id']}")
    await page.locator("#big").wait_for()
    await walk.look("page of a recording")
    await context.close()
    walk.check()
