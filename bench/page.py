"""Measure the page in headless Chromium: the first prompt on slow 4G, a coloured log, typing, and Ctrl-C in floods.

`python -m bench.page [CHROMIUM] [--runs N] [--ttyd PROGRAM]` starts a gateway. Build the page with `make web` before.
With ttyd (https://github.com/tsl0922/ttyd), its page is measured in the same browser, alternating with hawse's. Slow 4G
is the setting of Chromium's developer tools: 1.6 Mbit/s, and 150 ms per request. The pages draw without WebGL, because
Chromium would draw WebGL on the CPU here; `--webgl` uses it.
"""

import argparse
import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from playwright.async_api import Browser, Page, async_playwright

from bench.corpora import corpus
from tests.support.stack import Stack, free_port

SLOW_4G = {"offline": False, "latency": 150, "downloadThroughput": 200_000, "uploadThroughput": 93_750}
LOG = 10_000_000  # bytes
KEYS = 60
SCROLLBACK = 5000  # rows; hawse's default, also set for ttyd
# Milliseconds since the navigation. `prompt`: the terminal shows the shell's prompt.
_TIMES = """() => {
  window.times = {};
  const timer = setInterval(() => {
    const { hawse, times } = window;
    if (hawse?.state().terminal !== "live") return;
    times.live ??= performance.now();
    const { active } = hawse.terminal.buffer;
    if (!active.getLine(active.cursorY)?.translateToString(true)) return;
    times.prompt = performance.now();
    times.paint = performance.getEntriesByName("first-contentful-paint")[0]?.startTime;
    clearInterval(timer);
  }, 5);
}"""
# `measured` is the terminal of either page. `shows` returns whether a line on its screen contains a text.
_TOOLS = """() => {
  window.measured = () => window.hawse?.terminal ?? window.term;
  window.shows = text => {
    const terminal = measured();
    const active = terminal?.buffer.active;
    for (let y = 0; y < (terminal?.rows ?? 0); y++)
      if (active.getLine(active.baseY + y)?.translateToString(true).includes(text)) return true;
    return false;
  };
  window.tasks = [];
  new PerformanceObserver(list => window.tasks.push(...list.getEntries().map(entry => entry.duration)))
    .observe({ type: "longtask" });
}"""
# Milliseconds from each key to the write that echoes it, while another pane prints.
_ECHOES = """async keys => {
  const channel = new MessageChannel();  // a task without the delay of timers
  const soon = () => new Promise(resolve => {
    channel.port1.onmessage = resolve;
    channel.port2.postMessage(0);
  });
  const terminal = measured();
  const took = [];
  for (let i = 0; i < keys; i++) {
    const before = terminal.buffer.active.cursorX;
    const begun = performance.now();
    terminal.input("x");
    while (terminal.buffer.active.cursorX === before && performance.now() - begun < 5000)
      await soon();
    took.push(performance.now() - begun);
    await new Promise(resolve => setTimeout(resolve, 30));
  }
  return took.sort((a, b) => a - b);
}"""


@dataclass(frozen=True, slots=True)
class Served:
    """A server whose page contains a terminal."""

    name: str
    url: str


async def open_page(browser: Browser, served: Served, *, slow: bool = False) -> Page:
    """Open the page as a new user with an empty cache, and wait for the prompt."""
    context = await browser.new_context(viewport={"width": 1440, "height": 900})
    page = await context.new_page()
    if slow:
        await (await context.new_cdp_session(page)).send("Network.emulateNetworkConditions", SLOW_4G)
    await page.add_init_script(f"({_TIMES})(); ({_TOOLS})()")
    await page.goto(served.url, wait_until="commit")
    if served.name == "hawse":
        await page.wait_for_function("() => window.times?.prompt", timeout=60_000)
    else:
        await page.wait_for_function("() => shows('$') || shows('#')", timeout=60_000)
        await page.evaluate("() => measured().focus()")
    return page


async def first_prompt(browser: Browser, served: Served, runs: int) -> dict[str, float]:
    """Return the median milliseconds until the first paint, the live terminal and the prompt, on slow 4G."""
    found: list[dict[str, float]] = []
    for _ in range(runs):
        page = await open_page(browser, served, slow=True)
        found.append(await page.evaluate("() => window.times"))
        await page.context.close()
    return {name: median(times[name] for times in found) for name in ("paint", "live", "prompt")}


async def coloured_log(browser: Browser, served: Served, run: int) -> dict[str, float]:
    """Return the seconds until the page shows the log's end, the main thread's seconds, and its longest task in ms."""
    page = await open_page(browser, served)
    session = await page.context.new_cdp_session(page)
    await session.send("Performance.enable", {"timeDomain": "threadTicks"})
    await page.keyboard.type(f"cat log; echo end-$(({run} + 1000))")
    before = await _task_seconds(session)
    await page.evaluate("() => { window.tasks = [] }")
    begun = time.perf_counter()
    await page.keyboard.press("Enter")
    await page.wait_for_function("text => shows(text)", arg=f"end-{run + 1000}", timeout=120_000, polling=20)
    seconds = time.perf_counter() - begun
    found = {
        "log, s": seconds,
        "log, main thread, CPU s": await _task_seconds(session) - before,
        "log, longest task, ms": max([0.0, *await page.evaluate("() => window.tasks")]),
    }
    await page.context.close()
    return found


async def _task_seconds(session: object) -> float:
    metrics = (await session.send("Performance.getMetrics"))["metrics"]  # type: ignore[attr-defined]
    return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))


async def interrupt(browser: Browser, served: Served, run: int) -> dict[str, float]:
    """Return the milliseconds from Ctrl-C, after two seconds of `yes`, to the next prompt on the screen."""
    page = await open_page(browser, served)
    await page.keyboard.type(f"PS1='ready-'{run}'> '; clear; yes")
    await page.keyboard.press("Enter")
    await page.wait_for_function("() => shows('y')", timeout=60_000)
    await asyncio.sleep(2)  # of a flood
    begun = time.perf_counter()
    await page.keyboard.press("Control+c")
    await page.wait_for_function("text => shows(text)", arg=f"ready-{run}>", timeout=120_000, polling=10)
    took = (time.perf_counter() - begun) * 1000
    await page.context.close()
    return {"Ctrl-C under yes, ms": took}


async def typing(browser: Browser, served: Served) -> dict[str, float]:
    """Return the milliseconds of an echo in a pane of hawse, alone and while another pane shows a flood."""
    page = await open_page(browser, served)
    await page.keyboard.type("cat > /dev/null")
    await page.keyboard.press("Enter")
    alone = await page.evaluate(_ECHOES, KEYS)
    await page.evaluate("() => { window.first = window.hawse.terminal; window.measured = () => window.first }")
    await page.keyboard.press("Control+Shift+e")
    await page.wait_for_function("() => window.hawse.terminal !== window.first", timeout=60_000)
    await page.wait_for_function("() => window.hawse.state().terminal === 'live'", timeout=60_000)
    await page.keyboard.type("yes")
    await page.keyboard.press("Enter")
    await page.wait_for_function("() => window.hawse.terminal.buffer.active.baseY > 1000", timeout=60_000)
    beside = await page.evaluate(_ECHOES, KEYS)
    await page.keyboard.press("Control+c")
    await page.evaluate("() => window.first.input('\\x03')")  # the first terminal is active again
    await page.context.close()
    names = ("typing, p50, ms", "typing, p90, ms", "typing beside a flood, p50, ms", "typing beside a flood, p90, ms")
    values = [times[int(len(times) * part)] for times in (alone, beside) for part in (0.5, 0.9)]
    return dict(zip(names, values, strict=True))


@asynccontextmanager
async def ttyd_page(program: str, folder: Path, switches: list[str]) -> AsyncIterator[Served]:
    """Start ttyd with bash in a directory."""
    port = free_port()
    rows = ["-t", f"scrollback={SCROLLBACK}"]
    argv = [program, "-p", str(port), "-i", "127.0.0.1", "-W", "-w", str(folder), *rows, *switches, "bash", "--norc"]
    process = await asyncio.create_subprocess_exec(*argv, stderr=asyncio.subprocess.DEVNULL)
    try:
        for _ in range(100):
            try:
                (await asyncio.open_connection("127.0.0.1", port))[1].close()
                break
            except OSError:
                await asyncio.sleep(0.05)
        yield Served("ttyd", f"http://127.0.0.1:{port}/")
    finally:
        process.terminate()
        await process.wait()


async def compare(browser: Browser, pages: list[Served], runs: int) -> dict[str, dict[str, list[float]]]:
    """Return the values by figure and page. The pages alternate in each run."""
    found: dict[str, dict[str, list[float]]] = {}
    for run in range(runs):
        for measure in (coloured_log, interrupt):
            for served in pages if run % 2 == 0 else pages[::-1]:
                for name, value in (await measure(browser, served, run)).items():
                    found.setdefault(name, {}).setdefault(served.name, []).append(value)
    return found


async def run(arguments: argparse.Namespace) -> None:
    """Measure everything and print the medians."""
    switches = ["--no-sandbox", *([] if arguments.webgl else ["--disable-3d-apis"])]
    renderer = [] if arguments.webgl else ["-t", "rendererType=dom"]
    with tempfile.TemporaryDirectory() as folder:
        async with Stack(Path(folder), isolation="auto") as stack, async_playwright() as playwright:
            hawse = Served("hawse", f"{stack.base}/#token={stack.token}")
            browser = await playwright.chromium.launch(executable_path=arguments.chromium, args=switches)
            await (await open_page(browser, hawse)).context.close()  # the first visit creates the sandbox
            workspace = stack.state / "sandboxes" / "local" / "workspace"
            await asyncio.to_thread((workspace / "log").write_bytes, corpus("log", LOG))
            print(f"load at the beginning: {os.getloadavg()[0]:.1f}; {arguments.runs} runs")
            if not arguments.only_output:
                times = await first_prompt(browser, hawse, arguments.runs)
                print("slow 4G, ms:", ", ".join(f"{name} {value:.0f}" for name, value in times.items()))
                for name, value in (await typing(browser, hawse)).items():
                    print(f"{name}: {value:.1f}")
            if arguments.ttyd:
                async with ttyd_page(arguments.ttyd, workspace, renderer) as ttyd:
                    found = await compare(browser, [hawse, ttyd], arguments.runs)
            else:
                found = await compare(browser, [hawse], arguments.runs)
            for name, by_page in found.items():
                values = ", ".join(
                    f"{page} {median(all_):.2f} ({min(all_):.2f} to {max(all_):.2f})" for page, all_ in by_page.items()
                )
                print(f"{name}: {values}")
            print(f"load at the end: {os.getloadavg()[0]:.1f}")
            await browser.close()


def main() -> None:
    """Parse the arguments and run the benchmark."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("chromium", nargs="?", default=shutil.which("chromium-headless-shell") or "chromium")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--ttyd", metavar="PROGRAM", help="ttyd program whose page is measured as well")
    parser.add_argument("--only-output", action="store_true", help="measure only the log and Ctrl-C")
    parser.add_argument("--webgl", action="store_true")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
