"""Recording a terminal in the page, and playing, seeking, speeding up and downloading the recording."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from e2e.axe import serious
from e2e.conftest import Open
from e2e.view import WAIT
from tests.support.http_clients import http_client
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")
expect.set_options(timeout=WAIT)

PLAYER = Path(__file__).parent.parent / "web/node_modules/asciinema-player/dist/bundle/asciinema-player.min.js"

_SHOWN = """() => {
  const { buffer, rows } = window.playback.terminal;
  return Array.from({ length: rows }, (_, y) =>
    buffer.active.getLine(buffer.active.baseY + y)?.translateToString(true) ?? "").join("\\n");
}"""


async def until(page: Page, condition: str, argument: Any = None) -> None:
    await page.wait_for_function(condition, arg=argument, timeout=WAIT, polling=50)


async def until_shown(page: Page, text: str, *, shown: bool = True) -> None:
    await until(page, f"([text, shown]) => ({_SHOWN})().includes(text) === shown", [text, shown])


async def until_settled(page: Page) -> None:
    """Wait until the player has loaded the recording and finished its last seek."""
    await until(page, "() => window.playback?.player.settled && window.playback.player.phase !== 'loading'")


async def seek(page: Page, time: float) -> None:
    await page.evaluate("time => window.playback.player.seek(time)", time)
    await until_settled(page)


async def marker_time(page: Page, marker: str) -> float:
    return await page.evaluate(
        "label => window.playback.player.markers.find(marker => marker.label === label).t", marker
    )


async def mark(page: Page, label: str) -> None:
    """Set a marker in the newest recording of the page's sandbox."""
    await page.evaluate(
        """async label => {
          const { client, channel } = window.hawse;
          const { sandbox } = channel.address;
          const { recordings } = await client.call("recording.list", {}, { sandbox });
          await client.call("recording.mark", { id: recordings[0].id, label }, { sandbox });
        }""",
        label,
    )


async def test_a_terminal_is_recorded_and_played_in_the_page(open_page: Open, stack: Stack) -> None:
    view = await open_page()
    other = await open_page(width=800, height=600)
    page = view.page
    await expect(page.locator("#recording")).to_be_hidden()
    await view.choose("Record this terminal")
    await expect(page.locator("#recording")).to_be_visible()
    await expect(other.page.locator("#recording")).to_be_visible()
    await view.run("echo fir''st")
    await view.until_text("first")
    await mark(page, "one")
    cols = (await view.state())["cols"]
    await page.set_viewport_size({"width": 1200, "height": 700})
    await view.until("old => window.hawse.state().cols !== old", cols)
    await view.run(r"clear; printf '\033[3;5H\033[31msec''ond \346\274\242\033[0m\n'")
    await view.until_text("second")
    await mark(page, "two")
    await view.settled()
    await view.choose("Stop recording")
    await expect(page.locator("#recording")).to_be_hidden()
    await expect(other.page.locator("#recording")).to_be_hidden()

    await view.choose("Recordings")
    await page.locator(".recordings a").click()
    await until_settled(page)
    assert "recording=" in page.url
    await expect(page.locator(".ticks button")).to_have_count(2)

    await page.locator("#speed").select_option("4")
    await page.locator("#idle").select_option("0.5")
    await page.get_by_role("button", name="Play", exact=True).first.click()
    await until_shown(page, "second")
    await until(page, "() => window.playback.player.phase === 'ended'")
    await until_shown(page, "first", shown=False)

    await seek(page, await marker_time(page, "one"))
    await until_shown(page, "first")
    await until_shown(page, "second", shown=False)
    await seek(page, await marker_time(page, "two"))
    await until_shown(page, "second 漢")
    await page.keyboard.press("Home")
    await until_settled(page)
    await until_shown(page, "second", shown=False)
    await page.keyboard.press("Space")
    await until(page, "() => window.playback.player.phase === 'playing'")
    await page.keyboard.press("Space")
    await until(page, "() => window.playback.player.phase === 'paused'")

    async with page.expect_download() as started:
        await page.locator("#download").click()
    download = await started.value
    path = await download.path()
    lines = path.read_text("utf-8").splitlines()
    assert json.loads(lines[0])["version"] == 3
    assert {json.loads(line)[1] for line in lines[1:]} >= {"o", "r", "m"}
    assert not view.errors
    await played_by_asciinema(page, path.read_text("utf-8"))


async def played_by_asciinema(page: Page, cast: str) -> None:
    """asciinema's player plays the file with sizes and markers, and shows the same text."""
    await seek(page, 1e9)
    expected = "".join((await page.evaluate(_SHOWN)).split())
    assert "second漢" in expected
    other = await page.context.new_page()
    await other.set_content("<div id=player style='width:1000px'></div>")
    await other.add_script_tag(path=PLAYER)
    at = await other.evaluate(
        """async cast => {
          const markers = [];
          const options = { preload: true, fit: "width" };
          window.player = AsciinemaPlayer.create({ data: cast }, document.getElementById("player"), options);
          window.player.addEventListener("marker", marker => markers.push(marker));
          await window.player.play();
          await window.player.pause();
          await window.player.seek("100%");
          return await window.player.getCurrentTime();
        }""",
        cast,
    )
    total = sum(json.loads(line)[0] for line in cast.splitlines()[1:])
    assert at == pytest.approx(total, abs=0.05)
    text = "() => document.querySelector('.ap-term').innerText.replace(/\\s/g, '')"
    await until(other, f"expected => ({text})() === expected", expected)


async def test_seeking_in_a_large_recording_reads_a_bounded_part(open_page: Open, stack: Stack) -> None:
    view = await open_page()
    page = view.page
    await view.choose("Record this terminal")
    await expect(page.locator("#recording")).to_be_visible()
    await view.run("for i in $(seq 6); do seq $((i * 100000)) $((i * 100000 + 99999)); sleep 0.2; done; echo the-''end")
    await view.until_text("the-end")
    await view.choose("Stop recording")
    await expect(page.locator("#recording")).to_be_hidden()
    await view.choose("Recordings")
    await page.locator(".recordings a").click()
    await until_settled(page)
    size = await page.evaluate("() => window.playback.player.info.size")
    assert size > 4_000_000
    await page.evaluate(
        """() => {
          window.received = 0;
          const { terminal } = window.playback;
          const write = terminal.write.bind(terminal);
          terminal.write = (data, done) => { window.received += data.length; write(data, done); };
        }"""
    )
    duration = await page.evaluate("() => window.playback.player.duration")
    await seek(page, duration * 0.9)
    assert await page.evaluate("() => window.received") < size / 2
    before = await page.evaluate(_SHOWN)
    await seek(page, 0)
    await seek(page, duration * 0.3)
    await seek(page, duration * 0.9)
    assert await page.evaluate(_SHOWN) == before
    await seek(page, duration)
    await until_shown(page, "the-end")
    await seek(page, 0)
    await page.locator("#speed").select_option("16")
    await page.keyboard.press("Space")
    await until(page, "() => window.playback.player.phase === 'ended'")
    await until_shown(page, "the-end")


async def test_a_marker_is_set_in_the_menu_and_can_be_jumped_to(open_page: Open) -> None:
    view = await open_page()
    page = view.page
    await view.choose("Record this terminal")
    await expect(page.locator("#recording")).to_be_visible()  # until then the menu cannot mark and stop it
    await view.run("echo be''fore")
    await view.until_text("before")
    await view.choose("Mark this moment")
    await expect(page.locator("#toast")).to_have_text("Marker added to the recording.")
    await view.run("echo af''ter")
    await view.until_text("after")
    await view.choose("Stop recording")
    await expect(page.locator("#recording")).to_be_hidden()
    await view.choose("Recordings")
    await page.locator(".recordings a").click()
    await until_settled(page)
    await page.locator(".ticks button").click()
    await until_shown(page, "before")
    await until_shown(page, "after", shown=False)


async def recordings(page: Page) -> list[dict[str, Any]]:
    listed = await page.evaluate(
        """() => window.hawse.client.call("recording.list", {}, { sandbox: window.hawse.channel.address.sandbox })"""
    )
    return listed["recordings"]


async def test_a_double_click_on_record_starts_one_recording_and_offers_markers(open_page: Open) -> None:
    page = (await open_page()).page
    await page.get_by_role("button", name="More", exact=True).click()
    box = await page.get_by_role("menuitem", name="Record this terminal").bounding_box()
    assert box is not None
    await expect(page.get_by_role("menuitem", name="Mark this moment")).to_have_count(0)
    await page.mouse.dblclick(box["x"] + 20, box["y"] + 10)
    await expect(page.locator("#recording")).to_be_visible()
    assert [recording["state"] for recording in await recordings(page)] == ["recording"]
    await page.get_by_role("button", name="More", exact=True).click()
    await expect(page.get_by_role("menuitem", name="Mark this moment")).to_be_visible()


async def test_buttons_pressed_while_disconnected_do_nothing_later(open_page: Open, stack: Stack) -> None:
    view = await open_page()
    # The menu is a module that is loaded after the first prompt: it cannot be loaded without a network. The page loads
    # the next module when it has this one with all that it imports.
    await view.until("() => performance.getEntriesByType('resource').some(e => e.name.includes('action-lists'))")
    page = view.page
    await stack.kill()
    await view.until("() => window.hawse.state().connection !== 'live'")
    await view.choose("Record this terminal")
    await expect(page.locator("#toast")).to_have_text(re.compile("Not connected to the gateway"))
    await stack.start()
    await view.until_live()
    assert await recordings(page) == []


async def test_on_a_phone_a_wide_recording_is_readable_and_scrolls_by_touch(open_page: Open) -> None:
    view = await open_page(width=1400, height=800, touch=True)
    page = view.page
    await view.choose("Record this terminal")
    await expect(page.locator("#recording")).to_be_visible()  # until then the menu cannot mark and stop it
    await view.run("printf 'x%.0s' $(seq 150); echo; echo wi''de")
    await view.until_text("wide")
    await view.choose("Stop recording")
    await expect(page.locator("#recording")).to_be_hidden()
    await page.set_viewport_size({"width": 390, "height": 844})
    await view.choose("Recordings")
    await page.locator(".recordings a").click()
    await until_settled(page)
    await seek(page, 1e9)
    assert await page.evaluate("() => window.playback.terminal.options.fontSize") >= 7.5
    wide, shown = await page.evaluate("() => [window.playback.host.scrollWidth, window.playback.host.clientWidth]")
    assert shown <= 390 < wide
    assert await serious(page) == []
    await view.swipe((300, 400), (50, 400))
    await until(page, "() => window.playback.host.scrollLeft > 100")


async def test_a_viewer_cannot_play_a_recording_with_input(open_page: Open, stack: Stack) -> None:
    view = await open_page()
    start = """async () => {
      const { client, channel } = window.hawse;
      const { id: terminal, sandbox } = channel.address;
      return await client.call("recording.start", { terminal, input: true }, { sandbox });
    }"""
    recording = (await view.page.evaluate(start))["id"]
    eve = await open_page(token=stack.viewer_token)
    await eve.page.goto(f"{stack.base}/?recording={recording}")
    await expect(eve.page.get_by_text("you may not view this recording")).to_be_visible()
    await view.page.goto(f"{stack.base}/?recording={recording}")
    await until_settled(view.page)
    await expect(view.page.locator("#problem")).to_be_hidden()


async def test_an_unknown_recording_is_reported_and_a_download_needs_a_ticket(open_page: Open, stack: Stack) -> None:
    view = await open_page()
    await view.page.goto(f"{stack.base}/?recording=nope")
    await expect(view.page.get_by_text("This recording does not exist")).to_be_visible()
    async with http_client(stack.base) as http:
        assert (await http.get("/v1/sandboxes/local/recordings/nope.cast")).status_code == 401
