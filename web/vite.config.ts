import { readFileSync } from "node:fs";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { precompress } from "./build/precompress.ts";
import { preloadEmulator } from "./build/preload-emulator.ts";
import { preloadFont } from "./build/preload-font.ts";

// The gateway serves what is built here, under a Content-Security-Policy without inline scripts.
const gateway = process.env.HAWSE_GATEWAY ?? "http://127.0.0.1:8080";

/** The package of the symbols has no licence file. */
const SYMBOLS = `Symbols: Nerd Fonts 3.4.0 (https://www.nerdfonts.com), as packaged by @azurity/pure-nerd-font (MIT).
The symbols come from projects with licences of their own, which are listed at
https://github.com/ryanoasis/nerd-fonts/blob/master/license-audit.md.
`;

/** `build.license` collects those of scripts; the font's has to go with it as well. */
function fontLicense(): Plugin {
  const path = new URL("node_modules/@fontsource/jetbrains-mono/LICENSE", import.meta.url);
  const text = `${readFileSync(path, "utf8")}\n${SYMBOLS}`;
  return {
    name: "hawse-font-license",
    generateBundle() {
      this.emitFile({ type: "asset", fileName: "font-license.txt", source: text });
    },
  };
}

export default defineConfig({
  base: "./",
  plugins: [fontLicense(), preloadFont(), preloadEmulator(), precompress()],
  build: {
    outDir: "../gateway/hawse_gateway/_web",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    // Half a megabyte is xterm.js with its WebGL renderer: wanted at once, so in one file.
    chunkSizeWarningLimit: 600,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: ["index.html", "recording.html", "home.html"],
      // One chunk, whose name e2e/test_budget.py exempts. Languages are chunks of their own.
      output: {
        codeSplitting: {
          groups: [
            { name: "editor", test: /[\\/](codemirror|@codemirror[\\/](?!lang-|merge))/ },
            // What both documents need, and small modules of the first route that later chunks share: one file
            // compresses better than twenty.
            {
              name: "base",
              test: /[\\/](preact|@preact|src[\\/](base|wire|connection|client|terminal))[\\/](?!code-|draft|exec|format|sandbox|streams)|frame[\\/](icon|actions|tree)\.|page[\\/](?:\w+[\\/])?(address|clipboard|commands|dom|gpu-renderer|layout|local-links|import-with-retry|refuse-drops|session|settings|status|theme|themes)\.ts|preload-helper|icons[\\/](chevron-down|folder|logs|panel-left|plus|terminal|x)\.mjs/,
            },
          ],
        },
      },
    },
    license: { fileName: "licenses.md" },
  },
  server: {
    host: "127.0.0.1",
    // The gateway accepts only pages from its own origin, so requests of the development page carry that origin.
    proxy: {
      "/v1": { target: gateway, ws: true, changeOrigin: true, headers: { origin: new URL(gateway).origin } },
    },
  },
  test: {
    include: ["test/**/*.test.ts"],
    environment: "node",
    restoreMocks: true,
    // A process for each of 60 files took three quarters of the CPU time.
    pool: "threads",
    isolate: false,
  },
});
