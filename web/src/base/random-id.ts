// 128 random bits as hexadecimal text. crypto.randomUUID exists only on secure origins, and a gateway on a local
// network is often reached over plain HTTP.

export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, byte => byte.toString(16).padStart(2, "0")).join("");
}
