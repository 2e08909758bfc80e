import { expect, test } from "vitest";
import { tunnelAddress } from "../../../src/views/ports/tunnel-address";

const shop = { path: "/t/shop/", host: "t-shop.localhost" };

test.each([
  ["http://127.0.0.1:8080/", shop, "http://t-shop.localhost:8080/"],
  ["http://dev.localhost/", shop, "http://t-shop.localhost/"],
  ["https://hawse.example/", { ...shop, host: "t-shop.show.example" }, "https://t-shop.show.example/"],
  ["https://hawse.example/", shop, "https://hawse.example/t/shop/"],
  ["https://hawse.example/x/", { path: "/t/shop/" }, "https://hawse.example/x/t/shop/"],
  ["https://hawse.example/", { kind: "tcp" as const, public_port: 20042 }, "tcp://hawse.example:20042"],
  ["http://127.0.0.1:8080/", { kind: "tcp" as const, public_port: 20042 }, "tcp://localhost:20042"],
  ["http://[::1]:8080/", { kind: "tcp" as const, public_port: 20042 }, "tcp://localhost:20042"],
  ["http://localhost:8080/", { kind: "tcp" as const, public_port: 20042 }, "tcp://127.0.0.1:20042"],
  [
    "https://hawse.example/",
    { kind: "tls" as const, host: "t-db.show.example", public_port: 8443 },
    "tls://t-db.show.example:8443",
  ],
  [
    "https://hawse.example/",
    { kind: "tcp" as const, url: "tcp://gw.example:41234" },
    "tcp://gw.example:41234",
  ],
  ["https://hawse.example/", { kind: "tls" as const, host: "t-db.show.example", problem: "no port" }, null],
])("from %s, the tunnel %o has the address %s", (base, of, address) => {
  expect(tunnelAddress(base, of)).toBe(address);
});
