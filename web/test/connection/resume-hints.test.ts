import { afterEach, expect, test, vi } from "vitest";
import { onResumeHint } from "../../src/connection/resume-hints";

afterEach(() => void vi.unstubAllGlobals());

test("the listener is called when the network, the page or the tab comes back, until it is disposed", () => {
  const page = Object.assign(new EventTarget(), { visibilityState: "visible" });
  vi.stubGlobal("window", new EventTarget());
  vi.stubGlobal("document", page);
  let hints = 0;
  const subscription = onResumeHint(() => hints++);
  window.dispatchEvent(new Event("online"));
  window.dispatchEvent(new Event("pageshow"));
  page.dispatchEvent(new Event("visibilitychange"));
  page.visibilityState = "hidden";
  page.dispatchEvent(new Event("visibilitychange"));
  expect(hints).toBe(3);
  subscription.dispose();
  window.dispatchEvent(new Event("online"));
  expect(hints).toBe(3);
});

test("outside of a browser there are no hints", () => {
  expect(() => onResumeHint(() => {}).dispose()).not.toThrow();
});
