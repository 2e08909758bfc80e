"""The main flows in Firefox. Those of Chromium, in the other modules, go further."""

import pytest

import hawse
from e2e.firefox.driver import Firefox, FirefoxView
from tests.support.proxy import CuttingProxy
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")
ERRORS = "#failure:not([hidden]), #toast:not([hidden])"


async def open_terminal(firefox: Firefox, stack: Stack, port: int | None = None) -> FirefoxView:
    view = await firefox.open(f"http://127.0.0.1:{port or stack.port}/#token={stack.token}")
    await view.until_live()
    await view.until_pattern("[#$] ?$|[#$] *\n")
    return view


async def test_the_user_signs_in_and_stays_signed_in(firefox: Firefox, stack: Stack) -> None:
    view = await firefox.open(stack.base)
    await view.until_shown("#sign-in")
    await view.type("wrong")
    await view.press("Enter")
    await view.until("() => document.querySelector('#sign-in-error').textContent !== ''")
    await view.type(stack.token)
    await view.press("Enter")
    await view.until_live()
    await view.reload()
    await view.until_live()
    assert stack.token not in await view.evaluate(
        "() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie, location.href])"
    )


async def test_what_is_typed_arrives_and_what_a_program_prints_is_shown(firefox: Firefox, stack: Stack) -> None:
    view = await open_terminal(firefox, stack)
    await view.run("printf '\\033[31m%s\\033[0m\\n' \"sum: $((40 + 2))\"")
    await view.until_text("sum: 42")
    await view.type("echo one;two")
    for _ in range(4):
        await view.press("Backspace")
    await view.press("Home")
    await view.press("ArrowRight")
    await view.press("End")
    await view.press("Enter")
    await view.until_pattern("\\none\\n")
    await view.run("echo ready; cat")
    await view.until_pattern("\\nready\\n")  # what comes while the shell still edits its line would be no line for cat
    await view.run("ä€日")
    await view.until_pattern("ä€日\\n+ä€日")
    await view.press("Control+c")
    await view.until_text("^C")
    await view.run("stty size")
    size = await view.state()
    await view.until_text(f"{size['rows']} {size['cols']}")


async def test_an_arrow_of_two_characters_has_two_cells(firefox: Firefox, stack: Stack) -> None:
    view = await open_terminal(firefox, stack)
    await view.run("printf '%s' '->->'")
    await view.until_text("\n->->")
    # The font has a ligature for it, which the renderer without WebGL would draw.
    style = "() => getComputedStyle(document.querySelector('.xterm-rows')).fontVariantLigatures"
    assert await view.evaluate(style) == "none"


async def test_input_survives_a_lost_connection(firefox: Firefox, stack: Stack) -> None:
    async with CuttingProxy(stack.port) as proxy:
        view = await open_terminal(firefox, stack, proxy.port)
        proxy.refuse()
        await view.until("() => window.hawse.state().connection === 'waiting'")
        await view.type("echo typed-while-$((1 + 1))-down")
        await view.until_shown("#banner")
        proxy.resume()
        await view.press("Enter")
        await view.until_text("typed-while-2-down")
        await view.settled()
        await view.until("() => document.querySelector('#banner').hidden")


async def test_a_pane_is_split_and_both_are_there_after_a_reload(firefox: Firefox, stack: Stack) -> None:
    view = await open_terminal(firefox, stack)
    await view.click("#more")
    await view.click("::-p-text(Split right)")
    await view.until("() => window.hawse.channel.address.id === 'shell-2' && window.hawse.state().terminal === 'live'")
    await view.run("echo in-$((1 + 1))")
    await view.until_text("in-2")
    await view.press("Control+Alt+ArrowLeft")
    await view.until("() => window.hawse.channel.address.id === 'main'")
    await view.reload()
    await view.until_live()
    await view.until("() => document.querySelectorAll('.pane .xterm-screen').length === 2")


async def test_a_file_is_opened_edited_and_saved(firefox: Firefox, stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        box = hw.sandbox()
        await box.exec("printf 'one\\n' > notes.txt", check=True)
        view = await open_terminal(firefox, stack)
        await view.press("Control+Shift+B")
        await view.click('nav [aria-label="Files"]')
        await view.click('[role="treeitem"] ::-p-text(notes.txt)')
        await view.until_shown(".cm-content")
        await view.click(".cm-content")
        await view.press("Control+End")
        await view.type("two")
        await view.press("Control+s")
        await view.until_shown(".bar button ::-p-text(Saved)")
        assert (await box.exec("cat notes.txt", check=True)).text == "one\ntwo"


async def test_a_guest_follows_a_link_and_cannot_type(firefox: Firefox, stack: Stack) -> None:
    view = await open_terminal(firefox, stack)
    link = await view.evaluate(
        """() => window.hawse.client.call("share.create", { sandbox: "local", terminal: "main" }).then(r => r.path)"""
    )
    guest = await firefox.open(stack.base + link)
    await guest.until_live()
    await guest.until_shown("#read-only")
    await view.run("echo shown-$((1 + 1))")
    await guest.until_text("shown-2")
    await guest.type("x")
    await guest.until_shown(ERRORS)
    assert (await guest.state())["inputEnd"] == 0
