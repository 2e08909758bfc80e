// Saves bytes from the sandbox as a file on the user's machine.

/** Number of bytes to collect before turning them into a Blob, which the browser can store on disk. */
const PART = 8_388_608;

/** If the iteration throws, its error is rethrown and nothing is saved. */
export async function saveBlob(name: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const url = URL.createObjectURL(await collect(chunks));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser starts to read the Blob only after the click, so its URL must stay valid for a while.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

export async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Blob> {
  const parts: Blob[] = [];
  let waiting: BlobPart[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    waiting.push(chunk as BlobPart);
    size += chunk.length;
    if (size < PART) continue;
    parts.push(new Blob(waiting));
    waiting = [];
    size = 0;
  }
  return new Blob([...parts, ...waiting]);
}

/** The page's policy allows images from its own origin and `data:`. */
export async function dataUrl(blob: Blob, path: string): Promise<string> {
  const extension = path.split(".").at(-1)?.toLowerCase() ?? "";
  const type =
    { svg: "image/svg+xml", jpg: "image/jpeg", ico: "image/x-icon" }[extension] ?? `image/${extension}`;
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(new Blob([blob], { type }));
  });
}
