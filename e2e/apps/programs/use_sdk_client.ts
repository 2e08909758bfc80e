// Calls a gateway with the client that @hey-api/openapi-ts generated. Arguments: its URL and token.
import { createClient } from "./sdk/client/index.js";
import { exec, fileStat, filesPut } from "./sdk/sdk.gen.js";

const [baseUrl, token] = process.argv.slice(2);
const client = createClient({ baseUrl, auth: token });
const path = { sandbox: "local" };

const put = await filesPut({ client, path: { sandbox: "local", path: "hello.txt" }, body: new Blob(["hello"]) });
check(put.data?.bytes === 5, put);
const ran = await exec({ client, path, body: { command: "cat hello.txt; exit 3" } });
// The type of the response includes the text of server-sent events.
check(typeof ran.data === "object" && ran.data.code === 3 && ran.data.stdout === "hello", ran);
const missing = await fileStat({ client, path, body: { path: "missing" } });
check(missing.response?.status === 404 && missing.error?.code === "not_found", missing);
console.log("done");

function check(condition: boolean, seen: unknown): void {
  if (!condition) throw new Error(JSON.stringify(seen));
}
