import { defineConfig } from "vitest/config";

// The gateway serves what is built here, under a Content-Security-Policy without inline scripts.
const gateway = process.env.HAWSE_GATEWAY ?? "http://127.0.0.1:8080";

export default defineConfig({
  base: "./",
  build: {
    outDir: "../gateway/_web",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: "licenses.md" },
  },
  server: { host: "127.0.0.1", proxy: { "/v1": { target: gateway, ws: true, changeOrigin: true } } },
  test: { include: ["test/**/*.test.ts"], environment: "node", restoreMocks: true },
});
