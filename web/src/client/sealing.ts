// Seals the answer to a secret question for the runtime (docs/wire.md section 9), so that the gateway cannot read it.
// Browsers provide WebCrypto only to pages loaded over HTTPS or from localhost.

const TAG_SIZE = 32; // bytes
const INFO = "hawse sealed answer 1\0";

/** Returns the `sealed` parameter of `terminal.answer`. `seal` and `question` are the question's `seal` and `id`. */
export async function sealAnswer(text: string, seal: string, question: string): Promise<string> {
  const own = (await crypto.subtle.generateKey("X25519", false, ["deriveBits"])) as CryptoKeyPair;
  const ownPublic = new Uint8Array(await crypto.subtle.exportKey("raw", own.publicKey));
  const otherPublic = bytesOf(seal);
  const other = await crypto.subtle.importKey("raw", otherPublic, "X25519", false, []);
  const shared = await crypto.subtle.deriveBits({ name: "X25519", public: other }, own.privateKey, 256);
  const answer = new TextEncoder().encode(text);
  const [tagKey, pad] = await derivedKeys(shared, joined(ownPublic, otherPublic), question, answer.length);
  const cipher = answer.map((byte, index) => byte ^ (pad[index] ?? 0));
  answer.fill(0);
  const tag = new Uint8Array(await crypto.subtle.sign("HMAC", tagKey, cipher));
  return btoa(String.fromCharCode(...joined(ownPublic, tag, cipher)));
}

async function derivedKeys(
  shared: ArrayBuffer,
  salt: Uint8Array<ArrayBuffer>,
  question: string,
  size: number,
): Promise<[CryptoKey, Uint8Array]> {
  const source = await crypto.subtle.importKey("raw", shared, "HKDF", false, ["deriveBits"]);
  const info = new TextEncoder().encode(INFO + question);
  const bits = await crypto.subtle.deriveBits(
    { name: "HKDF", hash: "SHA-256", salt, info },
    source,
    (TAG_SIZE + size) * 8,
  );
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const tagKey = await crypto.subtle.importKey("raw", bits.slice(0, TAG_SIZE), hmac, false, ["sign"]);
  return [tagKey, new Uint8Array(bits, TAG_SIZE)];
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), char => char.charCodeAt(0));
}

function joined(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
