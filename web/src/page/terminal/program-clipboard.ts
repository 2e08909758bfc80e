// Lets programs copy text: OSC 52 (xterm's ctlseqs, "Manipulate Selection Data"). Programs can write to the clipboard
// with the user's consent. They can never read it, because its content can come from anywhere and the program can be
// running on any machine.

import type { Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../../base/disposables";
import { preferences } from "../settings/preferences";
import { copyText } from "./clipboard";
import { askInPane } from "./pane-question";

/** Maximum size of the text to copy, in base64 characters. */
const MAX_BASE64 = 1_400_000;

export interface CopyOptions {
  /** Whether the user is working in this page; every page that shows the terminal receives the request. */
  inUse: () => boolean;
  toast: (text: string) => void;
}

/**
 * Returns the text written by an OSC 52 sequence; undefined if it writes no text, for example because it requests the
 * clipboard.
 */
export function textToCopy(data: string): string | undefined {
  const [, selections, encoded] =
    /^([cpqs0-7]*);([A-Za-z0-9+/=\s]*)$/.exec(data.slice(0, MAX_BASE64 + 9)) ?? [];
  if (selections === undefined || !encoded || encoded.length > MAX_BASE64) return undefined;
  try {
    const bytes = Uint8Array.from(atob(encoded), character => character.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes) || undefined;
  } catch {
    return undefined; // not base64, or not UTF-8
  }
}

export class ProgramClipboard implements Disposable {
  readonly #stage: HTMLElement;
  readonly #terminal: Terminal;
  readonly #options: CopyOptions;
  readonly #disposables = new DisposableList();
  #question: Disposable | undefined;

  constructor(stage: HTMLElement, terminal: Terminal, options: CopyOptions) {
    this.#stage = stage;
    this.#terminal = terminal;
    this.#options = options;
    this.#disposables.add(
      terminal.parser.registerOscHandler(52, data => {
        const text = textToCopy(data);
        if (text !== undefined && options.inUse()) void this.#request(text);
        return true;
      }),
    );
    this.#disposables.defer(() => this.#question?.dispose());
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  async #request(text: string): Promise<void> {
    const { clipboard } = preferences().value;
    if (clipboard === "deny") return;
    // Some browsers allow a page to copy only after a click, so in those browsers the user is asked as well.
    if (clipboard === "ask" || !(await copyText(text))) this.#ask(text);
  }

  /** A new request replaces the question asked for an earlier one. */
  #ask(text: string): void {
    this.#question?.dispose();
    const copy = async () => {
      this.#terminal.focus();
      if (!(await copyText(text))) this.#options.toast("The browser does not allow this page to copy.");
    };
    this.#question = askInPane(this.#stage, `A program wants to copy ${describe(text)}`, [
      { label: "Copy", run: () => void copy() },
      {
        label: "Always",
        run: () => {
          preferences().update({ clipboard: "allow" });
          void copy();
        },
      },
      { label: "Not now", run: () => this.#terminal.focus() },
    ]);
  }
}

/** Returns the start of the text on one line. */
export function describe(text: string): string {
  const start = text
    .slice(0, 60)
    .replace(/[\p{C}\s]+/gu, " ")
    .trim();
  const shown = start.length > 24 ? `${start.slice(0, 23)}…` : start;
  const size = text.length > 24 ? ` (${text.length.toLocaleString("en")} characters)` : "";
  return `“${shown}”${size}`;
}
