// Uses the npm package in Node. Node 20 has no WebSocket of its own, so it gets that of `ws`.

import { HawseClient, HawseError } from "hawse";
import WebSocket from "ws";

const [, , base = "", token = ""] = process.argv;
const client = new HawseClient({ base, token, openSocket: (url, protocol) => new WebSocket(url, protocol) });
client.connect();
const box = client.sandbox("local");

function check(actual: unknown, expected: unknown): void {
  if (JSON.stringify(actual) !== JSON.stringify(expected))
    throw new Error(`${JSON.stringify(actual)} is not ${JSON.stringify(expected)}`);
}

const done = await box.exec(["sh", "-c", "echo out; echo err >&2; exit 3"]);
check([done.code, done.text, new TextDecoder().decode(done.stderr)], [3, "out\n", "err\n"]);

const large = new Uint8Array(3_000_000).map((_, i) => i % 251);
check((await box.write("dir/large.bin", large)).bytes, large.length);
let size = 0;
for await (const chunk of box.read("dir/large.bin")) {
  if (chunk[0] !== size % 251) throw new Error(`wrong byte at ${size}`);
  size += chunk.length;
}
check(size, large.length);

const names: string[] = [];
for await (const item of box.file.list({ path: "dir" })) {
  if (item.event === "entries") names.push(...item.value.entries.map(({ path }) => path));
}
check(names, ["large.bin"]);
check((await box.file.stat({ path: "dir/large.bin" })).type, "file");

const error = await box.file.stat({ path: "nothing" }).catch((problem: unknown) => problem);
check(error instanceof HawseError && error.code, "not_found");

const taken = await box
  .write("dir/large.bin", large, { if_version: "" })
  .catch((problem: unknown) => problem);
check(taken instanceof HawseError && taken.code, "conflict");

for await (const item of box.watch.start({ path: "dir" })) {
  if (item.event === "watching") await box.write("dir/new.txt", "new");
  if (item.event === "changes" && item.value.changes.some(({ path }) => path.endsWith("new.txt"))) break;
}

const { id } = await box.process.start({ command: "for n in 1 2 3; do echo line $n; done" });
let output = "";
for await (const { stream, bytes } of box.output(id)) output += `${stream}: ${new TextDecoder().decode(bytes)}`;
check(output.replaceAll("stdout: ", ""), "line 1\nline 2\nline 3\n");

await box.terminal.create({ id: "agent", argv: ["echo", "hello"] });
let screen = "";
for await (const item of box.terminal.attach({ id: "agent" })) {
  if (item.event === "data") screen += new TextDecoder().decode(item.bytes);
  if (item.event === "exit") check(item.value.code, 0);
}
check(screen, "hello\r\n");

const code = await box.run("import sys\nprint('out')\nprint('err', file=sys.stderr)\n[1, 2]");
check([code.status, code.stdout, code.stderr, code.text], ["ok", "out\n", "err\n", "[1, 2]"]);
check(code.results.map(({ kind, data }) => [kind, data["text/plain"]]), [["value", "[1, 2]"]]);
const raised = await box.run("1 / 0");
check([raised.status, raised.error?.name, raised.results], ["error", "ZeroDivisionError", []]);

const { sandboxes } = client;
const made = await sandboxes.create({ labels: { made: "by-npm" } });
check((await made.exec("echo $HOME")).code, 0);
check(
  (await sandboxes.list({ made: "by-npm" })).map(({ id }) => id),
  [made.id],
);
check((await sandboxes.stop(made.id)).state, "stopped");
check((await sandboxes.start(made.id)).state, "running");
await sandboxes.update(made.id, { labels: { made: null } });
check(await sandboxes.list({ made: "by-npm" }), []);
await sandboxes.delete(made.id);
const gone = await sandboxes.get(made.id).catch((problem: unknown) => problem);
check(gone instanceof HawseError && gone.code, "not_found");

const surrogate = await box.exec("echo \ud800").catch((problem: unknown) => problem);
check(surrogate instanceof HawseError, true);
const tooLong = await box.exec("#".repeat(2_000_000)).catch((problem: unknown) => problem);
check(tooLong instanceof HawseError && tooLong.code, "too_large");
check((await box.exec("echo still here")).text, "still here\n"); // the connection has survived

const wrong = new HawseClient({ base, token: "wrong", openSocket: (url, protocol) => new WebSocket(url, protocol) });
wrong.connect();
const refused = await wrong
  .sandbox("local")
  .exec("true")
  .catch((problem: unknown) => problem);
check(refused instanceof HawseError && refused.code, "unauthenticated");
wrong.close();

client.close();
console.log("done");
