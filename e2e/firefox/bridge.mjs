// Drives a Firefox for e2e/firefox/driver.py: reads one JSON request a line from standard input and answers with one line.
// The end of the input ends the browser.
//
//     {"id": 1, "verb": "click", "page": 0, "selector": "#more"}  →  {"id": 1, "result": null}  or  {"id": 1, "error": "…"}

import { createInterface } from "node:readline";
import puppeteer from "puppeteer-core";

const [, , executablePath, timeout] = process.argv;
const browser = await puppeteer.launch({
  browser: "firefox",
  executablePath,
  headless: true,
  acceptInsecureCerts: true, // tests have an authority of their own
});
const pages = [];
const errors = [];

async function addPage(context, viewport) {
  const page = await context.newPage();
  page.setDefaultTimeout(Number(timeout));
  await page.setViewport(viewport);
  page.on("pageerror", error => errors.push(error.stack ?? String(error)));
  return pages.push(page) - 1;
}

const call = ({ expression, argument }) => `(${expression})(${JSON.stringify(argument)})`;

const verbs = {
  version: () => browser.version(),
  /** A page of a new user. */
  open: async ({ viewport }) => addPage(await browser.createBrowserContext(), viewport),
  close: ({ page }) => pages[page].browserContext().close(),
  goto: ({ page, url }) => pages[page].goto(url),
  reload: ({ page }) => pages[page].reload(),
  evaluate: ({ page, ...code }) => pages[page].evaluate(call(code)),
  wait: async ({ page, ...code }) => void (await pages[page].waitForFunction(call(code), { polling: 50 })),
  waitInFrame: async ({ page, frame, ...code }) => {
    const count = Number(timeout) / 50;
    for (let turn = 0; turn < count; turn++) {
      const found = pages[page].frames()[frame];
      // A frame that is being loaded has no document, or another one soon.
      if (await found?.evaluate(call(code)).catch(() => false)) return;
      await new Promise(done => setTimeout(done, 50));
    }
    throw new Error(`timeout of ${timeout} ms`);
  },
  type: ({ page, text }) => pages[page].keyboard.type(text),
  press: async ({ page, keys }) => {
    const { keyboard } = pages[page];
    for (const key of keys) await keyboard.down(key);
    for (const key of keys.toReversed()) await keyboard.up(key);
  },
  click: ({ page, selector }) => pages[page].locator(selector).click(),
  shown: async ({ page, selector }) => void (await pages[page].waitForSelector(selector, { visible: true })),
  screenshot: async ({ page, path }) => void (await pages[page].screenshot({ path })),
  /** The errors since the last call. */
  errors: () => errors.splice(0),
};

async function answer({ id, verb, ...request }) {
  try {
    return { id, result: (await verbs[verb](request)) ?? null };
  } catch (error) {
    return { id, error: `${verb}: ${error.message}` };
  }
}

for await (const line of createInterface({ input: process.stdin }))
  void answer(JSON.parse(line)).then(reply => process.stdout.write(`${JSON.stringify(reply)}\n`));
await browser.close();
