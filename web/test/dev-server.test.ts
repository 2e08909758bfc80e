// Checks that the development server of vite.config.ts passes the gateway's check of the Origin header.

import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";

test("a request of the development page reaches the gateway with the gateway's own origin", async () => {
  const received: IncomingHttpHeaders[] = [];
  const gateway = createServer((request, response) => {
    received.push(request.headers);
    response.end("{}");
  });
  gateway.listen(0, "127.0.0.1");
  await once(gateway, "listening");
  onTestFinished(() => void gateway.close());
  const base = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;

  vi.stubEnv("HAWSE_GATEWAY", base);
  const vite = await import("vite");
  const root = fileURLToPath(new URL("..", import.meta.url));
  const server = await vite.createServer({
    root,
    configFile: `${root}/vite.config.ts`,
    logLevel: "silent",
    server: { port: 0, hmr: false, ws: false, watch: null },
    optimizeDeps: { noDiscovery: true },
  });
  onTestFinished(() => server.close());
  await server.listen();
  const page = `http://127.0.0.1:${(server.httpServer?.address() as AddressInfo | undefined)?.port}`;
  await fetch(`${page}/v1/tickets`, { method: "POST", headers: { origin: page } });
  expect(received.map(({ origin, host }) => [origin, `http://${host}`])).toEqual([[base, base]]);
});
