// Writes a .br and a .gz file beside each built file, which the gateway serves (gateway/hawse_gateway/http/static.py).

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Plugin } from "vite";

/** Files whose content compresses. Fonts (woff2) and images are compressed already. */
const COMPRESSIBLE = /\.(css|html|js|json|md|svg|txt|wasm|webmanifest)$/;
/** Bytes. A smaller file fits into one packet without compression. */
const MIN_SIZE = 1_000;

export function precompress(): Plugin {
  let outDir = "";
  return {
    name: "hawse-precompress",
    apply: "build",
    configResolved(config) {
      outDir = join(config.root, config.build.outDir);
    },
    // After the files of `public/` have been copied and the licences written.
    closeBundle: {
      order: "post",
      handler() {
        for (const name of readdirSync(outDir, { recursive: true, encoding: "utf8" })) {
          if (COMPRESSIBLE.test(name)) compress(join(outDir, name));
        }
      },
    },
  };
}

function compress(path: string): void {
  const content = readFileSync(path);
  if (content.length < MIN_SIZE) return;
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
  };
  for (const [suffix, encoded] of [
    ["br", brotliCompressSync(content, { params })],
    ["gz", gzipSync(content, { level: 9 })],
  ] as const) {
    if (encoded.length < content.length) writeFileSync(`${path}.${suffix}`, encoded);
  }
}
