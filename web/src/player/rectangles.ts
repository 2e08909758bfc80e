// Decodes the events in a desktop recording: Base64 lines with rectangles of pixels (docs/wire.md, Recordings).

export interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Three-byte pixels, compressed with zlib. */
  readonly data: Uint8Array<ArrayBuffer>;
}

/** Size of the header in front of a rectangle's pixels, in bytes. */
const HEAD = 12;

/** Returns the rectangles in a line, up to the first damaged one. */
export function parseRectangles(line: string): Rectangle[] {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = Uint8Array.from(atob(line), each => each.charCodeAt(0));
  } catch {
    return [];
  }
  const view = new DataView(bytes.buffer);
  const found: Rectangle[] = [];
  for (let at = 0; at + HEAD <= bytes.length; ) {
    const [x, y] = [view.getUint16(at), view.getUint16(at + 2)];
    const [width, height] = [view.getUint16(at + 4), view.getUint16(at + 6)];
    const start = at + HEAD;
    at = start + view.getUint32(at + 8);
    if (at > bytes.length || !width || !height) break;
    found.push({ x, y, width, height, data: bytes.subarray(start, at) });
  }
  return found;
}

/** Adds an opaque fourth byte to each pixel. Missing pixels are black. */
export function toRgba(rgb: Uint8Array, pixels: number): Uint8ClampedArray<ArrayBuffer> {
  const rgba = new Uint8ClampedArray(4 * pixels);
  for (let pixel = 0; pixel < pixels; pixel++) {
    rgba[4 * pixel] = rgb[3 * pixel] ?? 0;
    rgba[4 * pixel + 1] = rgb[3 * pixel + 1] ?? 0;
    rgba[4 * pixel + 2] = rgb[3 * pixel + 2] ?? 0;
    rgba[4 * pixel + 3] = 255;
  }
  return rgba;
}

/** Returns at most the first `limit` bytes after decompression. Throws TypeError if the data is damaged. */
export async function inflate(data: Uint8Array<ArrayBuffer>, limit: number): Promise<Uint8Array> {
  const reader = new Blob([data]).stream().pipeThrough(new DecompressionStream("deflate")).getReader();
  const found = new Uint8Array(limit);
  for (let at = 0; at < limit; ) {
    const { value, done } = await reader.read();
    if (done) return found.subarray(0, at);
    found.set(value.subarray(0, limit - at), at);
    at += value.length;
  }
  await reader.cancel();
  return found;
}
