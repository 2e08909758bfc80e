import { afterEach, expect, test, vi } from "vitest";
import { downloadRecording } from "../../src/page/download";

afterEach(() => void vi.unstubAllGlobals());

test("a download requests a ticket and clicks a link with it, not with the token", async () => {
  const link = { href: "", download: "", clicked: 0, click: () => link.clicked++ };
  vi.stubGlobal("document", { baseURI: "https://host/sub/page", createElement: () => link });
  vi.stubGlobal("fetch", async () => new Response(JSON.stringify({ ticket: "one use" }), { status: 200 }));
  await downloadRecording("my box", "r/1", "secret");
  expect(link).toMatchObject({
    href: "https://host/sub/v1/sandboxes/my%20box/recordings/r%2F1.cast?ticket=one+use",
    download: "r/1.cast",
    clicked: 1,
  });
});
