import { afterEach, expect, test, vi } from "vitest";
import { downloadRecording } from "../../src/player/download";

afterEach(() => void vi.unstubAllGlobals());

test("a download clicks a link with a ticket", async () => {
  const link = { href: "", download: "", clicked: 0, click: () => link.clicked++ };
  vi.stubGlobal("document", { baseURI: "https://host/sub/page", createElement: () => link });
  await downloadRecording("my box", "r/1", async () => "one use");
  expect(link).toMatchObject({
    href: "https://host/sub/v1/sandboxes/my%20box/recordings/r%2F1.cast?ticket=one+use",
    download: "r/1.cast",
    clicked: 1,
  });
});
