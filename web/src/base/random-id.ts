// Returns 128 random bits as hexadecimal text. crypto.randomUUID exists only on secure origins, but gateways on local
// networks are often used over plain HTTP.

export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, byte => byte.toString(16).padStart(2, "0")).join("");
}
