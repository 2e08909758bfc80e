// `node main.mjs DIRECTORY`: replays the cases in DIRECTORY (written by tests/screens/cases.py) and writes
// outcomes.json there.

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import headless from "@xterm/headless";
import { runnerImport } from "vite";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { module } = await runnerImport("/test/screens/replay.ts", {
  root,
  configFile: false,
  logLevel: "error",
});
const directory = process.argv[2];
const outcomes = [];
for (const entry of JSON.parse(readFileSync(`${directory}/cases.json`, "utf8"))) {
  const snapshots = readFileSync(`${directory}/${entry.snapshots}`);
  let start = 0;
  const cuts = entry.cuts.map(({ size, ...cut }) => {
    start += size;
    return { ...cut, snapshot: snapshots.subarray(start - size, start) };
  });
  const recording = readFileSync(entry.recording);
  outcomes.push(await module.replay(headless.Terminal, { ...entry, recording, cuts }));
}
writeFileSync(`${directory}/outcomes.json`, JSON.stringify(outcomes));
process.exit(0);
