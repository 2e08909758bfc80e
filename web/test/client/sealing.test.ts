// Answers are sealed as tests/wire/test_sealing.py opens them.

import { createHmac, createPublicKey, diffieHellman, generateKeyPairSync, hkdfSync } from "node:crypto";
import { expect, test } from "vitest";
import { sealAnswer } from "../../src/client/sealing";

const { privateKey, publicKey } = generateKeyPairSync("x25519");
const jwk = (x: Uint8Array) => ({ kty: "OKP", crv: "X25519", x: Buffer.from(x).toString("base64url") });
const PUBLIC = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");

/** Opens an answer as the runtime does. Returns null if its tag is wrong. */
function opened(sealed: string, question: string): string | null {
  const bytes = Buffer.from(sealed, "base64");
  const [own, tag, cipher] = [bytes.subarray(0, 32), bytes.subarray(32, 64), bytes.subarray(64)];
  const key = createPublicKey({ key: jwk(own), format: "jwk" });
  const shared = diffieHellman({ privateKey, publicKey: key });
  const salt = Buffer.concat([own, PUBLIC]);
  const info = Buffer.from(`hawse sealed answer 1\0${question}`);
  const derived = Buffer.from(hkdfSync("sha256", shared, salt, info, 32 + cipher.length));
  const expected = createHmac("sha256", derived.subarray(0, 32)).update(cipher).digest();
  return expected.equals(tag)
    ? cipher.map((byte, index) => byte ^ (derived[32 + index] ?? 0)).toString()
    : null;
}

test.each(["", "a", "Größe", "x".repeat(1000)])(
  "an answer is opened with the question's key: %#",
  async text => {
    expect(opened(await sealAnswer(text, PUBLIC.toString("base64"), "q-1"), "q-1")).toBe(text);
  },
);

test("an answer to another question is not opened", async () => {
  expect(opened(await sealAnswer("secret", PUBLIC.toString("base64"), "q-1"), "q-2")).toBeNull();
});

test("two answers with the same text differ", async () => {
  const seal = () => sealAnswer("secret", PUBLIC.toString("base64"), "q-1");
  expect(await seal()).not.toBe(await seal());
});

test("an invalid key is refused", async () => {
  await expect(sealAnswer("secret", "AAAA", "q-1")).rejects.toThrow();
});
