import { expect, test } from "vitest";
import { previewAddress } from "../../../src/views/ports/preview-address";

const token = "a".repeat(32);
const preview = { host: "localhost", sandbox: "local", port: 5173, token };

test.each([
  ["http://127.0.0.1:8080/", preview, `http://5173-local-${token}.localhost:8080/`],
  ["http://dev.localhost/", preview, `http://5173-local-${token}.localhost/`],
  [
    "https://hawse.example/",
    { ...preview, host: "show.example" },
    `https://5173-local-${token}.show.example/`,
  ],
  ["https://hawse.example/", preview, `https://hawse.example/p/local/${token}/`],
  ["http://127.0.0.1:8080/", { ...preview, host: undefined }, `http://127.0.0.1:8080/p/local/${token}/`],
  [
    "http://127.0.0.1:8080/x/",
    { ...preview, sandbox: "Mine_1" },
    `http://127.0.0.1:8080/x/p/Mine_1/${token}/`,
  ],
  [
    "http://127.0.0.1:8080/",
    { ...preview, sandbox: "l".repeat(40) },
    `http://127.0.0.1:8080/p/${"l".repeat(40)}/${token}/`,
  ],
])("from %s, the preview %o has the URL %s", (base, of, address) => {
  expect(previewAddress(base, of)).toBe(address);
});
