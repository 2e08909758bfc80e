// `node bundle.mjs DIRECTORY`: bundles browser.ts as browser.js in DIRECTORY.

import { fileURLToPath } from "node:url";
import { build } from "vite";

await build({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  configFile: false,
  logLevel: "error",
  publicDir: false,
  build: {
    outDir: process.argv[2],
    emptyOutDir: false,
    lib: {
      entry: fileURLToPath(new URL("browser.ts", import.meta.url)),
      formats: ["iife"],
      name: "screens",
      fileName: () => "browser.js",
    },
  },
});
