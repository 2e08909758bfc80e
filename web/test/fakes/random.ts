// A small seeded generator (mulberry32), so that a failing run can be repeated.

export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

export function below(random: () => number, limit: number): number {
  return Math.floor(random() * limit);
}

export function randomBytes(random: () => number, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => below(random, 256));
}
