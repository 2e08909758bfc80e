// Every call of the npm package ends, however a gateway refuses it: in Node 20, with the package `ws`.

import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { HawseClient, HawseError, type ClientOptions } from "hawse";
import WebSocket, { WebSocketServer } from "ws";

type Socket = WebSocket;

/** A gateway that answers requests for tickets with `answer`, and does `connected` with each WebSocket. */
async function gateway(answer: RequestListener, connected: (socket: Socket) => void = () => {}) {
  const server = createServer(answer);
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", connected);
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => {
    for (const socket of sockets.clients) socket.terminate();
    sockets.close();
    server.closeAllConnections();
    server.close();
  };
  return { base, close };
}

const ticket: RequestListener = (_, response) => response.writeHead(201).end('{"ticket": "t"}');
const status =
  (code: number, body: string, type = "application/json"): RequestListener =>
  (_, response) =>
    response.writeHead(code, { "content-type": type }).end(body);
const closing = (code: number) => (socket: Socket) => socket.on("message", () => socket.close(code));
const welcome = (protocol: number) =>
  JSON.stringify({ type: "welcome", protocol, server: "s", identity: "i", role: "r", limits: {}, abilities: [] });

/** Makes calls of each kind, and returns the codes of their errors. */
async function codes(options: ClientOptions, act: (client: HawseClient) => Promise<void> = async () => {}) {
  const openSocket = (url: string, protocol: string) => new WebSocket(url, protocol);
  const client = new HawseClient({ token: "secret", connectTimeout: 2, openSocket, ...options });
  client.connect();
  const box = client.sandbox("local");
  const calls = [
    client.call("sandbox.list"),
    box.file.stat({ path: "x" }),
    box.exec("true"),
    box.readText("x"),
    box.write("x", "y"),
    box.run("1"),
    box.output("p").next(),
    client.sandboxes.create(),
    client.sandboxes.watch().result,
  ];
  const outcomes = Promise.allSettled(calls);
  await act(client);
  const found = (await outcomes).map(each =>
    each.status === "rejected" && each.reason instanceof HawseError ? each.reason.code : JSON.stringify(each),
  );
  const late = await box.exec("true").catch((error: unknown) => (error as HawseError).code);
  client.close();
  return [...new Set([...found, late])].join();
}

async function expectCode(name: string, code: string, ...given: Parameters<typeof gateway>) {
  const { base, close } = await gateway(...given);
  const found = await codes({ base });
  close();
  if (found !== code) throw new Error(`${name}: ${found} instead of ${code}`);
}

const page = "<html>Sign in</html>";
await Promise.all([
  expectCode("401", "unauthenticated", status(401, '{"code": "unauthenticated", "message": "no"}')),
  expectCode("401 of a proxy", "unauthenticated", status(401, page, "text/html")),
  expectCode("403", "forbidden", status(403, '{"code": "forbidden", "message": "no"}')),
  expectCode("429", "unavailable", status(429, '{"code": "limit_exceeded", "message": "slower"}')),
  expectCode("503", "unavailable", status(503, page, "text/html")),
  expectCode("a page", "unavailable", status(200, page, "text/html")),
  expectCode("no answer", "unavailable", () => {}),
  expectCode("no welcome", "unavailable", ticket),
  expectCode("4401", "unauthenticated", ticket, closing(4401)),
  expectCode("4403", "forbidden", ticket, closing(4403)),
  expectCode("4408", "unavailable", ticket, closing(4408)),
  expectCode("4429", "unavailable", ticket, closing(4429)),
  expectCode("1008", "protocol_error", ticket, closing(1008)),
  expectCode("1009", "too_large", ticket, closing(1009)),
  expectCode("another protocol", "protocol_error", ticket, socket => socket.send(welcome(2))),
  expectCode("no JSON", "invalid_message", ticket, socket => socket.send("hello")),
  expectCode("nothing but cuts", "unavailable", ticket, socket => socket.terminate()),
]);

// A proxy that refuses the WebSocket, for which `ws` emits an error.
const proxy = createServer(ticket);
proxy.on("upgrade", (_, socket) => socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n"));
await new Promise<void>(resolve => proxy.listen(0, "127.0.0.1", resolve));
const { port } = proxy.address() as AddressInfo;
const refused = await codes({ base: `http://127.0.0.1:${port}` });
proxy.closeAllConnections();
proxy.close();
if (refused !== "unavailable") throw new Error(`a refused upgrade: ${refused}`);

// The port of a server that has ended: nothing listens.
const nothing = await codes({ base: `http://127.0.0.1:${port}` });
if (nothing !== "unavailable") throw new Error(`nothing listens: ${nothing}`);

// Calls that run, or that wait, when the client is closed: also while the WebSocket is being opened.
for (const sent of [welcome(1), undefined]) {
  const { base, close } = await gateway(ticket, socket => sent && socket.send(sent));
  const closed = await codes({ base }, async client => {
    if (sent) while (client.state.phase !== "live") await new Promise(resolve => client.onState(resolve));
    client.close();
  });
  close();
  if (closed !== "cancelled") throw new Error(`close: ${closed}`);
}
console.log("done");
