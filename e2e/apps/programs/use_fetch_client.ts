// Calls a gateway with openapi-fetch and the types of openapi-typescript. Arguments: its URL and token.
import createClient from "openapi-fetch";
import type { paths } from "./schema.js";

const [baseUrl, token] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });
const sandbox = { path: { sandbox: "local" } };

const file = { path: { sandbox: "local", path: "hello.txt" } };
const put = await client.PUT("/v1/sandboxes/{sandbox}/files/{path}", {
  params: file,
  body: "hello",
  bodySerializer: (body) => body,
  headers: { "Content-Type": "application/octet-stream" },
});
check(put.data?.bytes === 5, put);

const ran = await client.POST("/v1/sandboxes/{sandbox}/exec", {
  params: sandbox,
  body: { command: "cat hello.txt; exit 3" },
});
// The type of the response includes the text of server-sent events.
check(typeof ran.data === "object" && ran.data.code === 3 && ran.data.stdout === "hello", ran);

const missing = await client.POST("/v1/sandboxes/{sandbox}/file.stat", { params: sandbox, body: { path: "missing" } });
check(missing.response.status === 404 && missing.error?.code === "not_found", missing);
console.log("done");

function check(condition: boolean, seen: unknown): void {
  if (!condition) throw new Error(JSON.stringify(seen));
}
