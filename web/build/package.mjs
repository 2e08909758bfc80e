// Builds dist/, the npm package: ES modules with types. Node and `moduleResolution: NodeNext` need the extensions of
// imported files, which the sources leave out, so this adds them. npm takes README.md and LICENSE from this folder.

import { execFileSync } from "node:child_process";
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const WEB = fileURLToPath(new URL("..", import.meta.url));
const DIST = join(WEB, "dist");
const RELATIVE = /(\bfrom\s*|\bimport\s*\(?\s*)"(\.\.?\/[^"]+)"/g;

copyFileSync(join(WEB, "../LICENSE"), join(WEB, "LICENSE"));
rmSync(DIST, { recursive: true, force: true });
execFileSync(
  process.execPath,
  [join(WEB, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.package.json"],
  {
    cwd: WEB,
    stdio: "inherit",
  },
);
for (const name of readdirSync(DIST, { recursive: true, encoding: "utf8" })) {
  if (!/\.(js|d\.ts)$/.test(name)) continue;
  const path = join(DIST, name);
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replace(RELATIVE, '$1"$2.js"'));
}
