// The comparison in a browser, with the build of xterm.js that the page uses; e2e/test_screens.py loads it.

import type { Terminal as Headless } from "@xterm/headless";
import { Terminal } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import { type Make, type Outcome, type Resize, replay } from "./replay";

interface Entry {
  name: string;
  cols: number;
  rows: number;
  recording: string;
  resizes: Resize[];
  cuts: { at: number; resized: number; snapshot: string }[];
}

/** Unlike the headless build, this one has to be opened before it draws. */
class OpenedTerminal extends Terminal {
  constructor(options: ConstructorParameters<typeof Terminal>[0]) {
    super(options);
    const host = document.createElement("div");
    document.body.replaceChildren(host);
    this.open(host);
  }
}

/** `entry` contains all bytes in base64. */
export function replayHere(entry: Entry): Promise<Outcome> {
  const bytes = (base64: string) => Uint8Array.from(atob(base64), char => char.charCodeAt(0));
  const cuts = entry.cuts.map(cut => ({ ...cut, snapshot: bytes(cut.snapshot) }));
  const make = OpenedTerminal as unknown as Make & Headless;
  return replay(make, { ...entry, recording: bytes(entry.recording), cuts });
}

Object.assign(globalThis, { replayHere });
