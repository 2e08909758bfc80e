// Sanitizes text that is pasted into a terminal. The user may not have seen all of it, so it must not run anything by
// itself. xterm.js sends the text unchanged, so text that contains the end marker of a bracketed paste would escape
// from the paste. This module therefore handles every way to paste: xterm.js's own method, the browser's paste (with a
// key, the middle button, a menu or on a phone), and text dropped on xterm.js's input field or inserted there by a
// keyboard.

import type { Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../base/disposables";

const BEGIN = "\x1b[200~";
const END = "\x1b[201~";
/** All control characters except tab, line feed and carriage return. `runtime/hawse_runtime/screen/emulator/key_encoder.py` has the same rule. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for control characters
const CONTROLS = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;
const LINE_END = /\r\n|\n/g;
/** Input events for text that wasn't typed with keys (Input Events Level 2). */
const INSERTED = new Set([
  "insertFromPaste",
  "insertFromPasteAsQuotation",
  "insertFromDrop",
  "insertFromYank",
]);

/** Input events for text composed with an input method. */
const COMPOSED = new Set(["insertCompositionText", "insertFromComposition"]);

export type Pastable = Pick<Terminal, "input" | "modes" | "options"> &
  Partial<Pick<Terminal, "element" | "paste">>;

/** Returns whether to paste text into a program that would treat each line end as the Enter key. */
export type MayPaste = (text: string) => boolean | Promise<boolean>;

/**
 * Returns the input to send for pasted text. Control characters become spaces, and each line end becomes the Enter key
 * (CR).
 */
export function encodePaste(text: string, bracketed: boolean): string {
  const clean = text.replace(CONTROLS, " ").replace(LINE_END, "\r");
  return bracketed ? BEGIN + clean + END : clean;
}

/**
 * Replaces `terminal.paste` and handles the browser's paste events until disposed. `send` calls its argument, which
 * sends the text as user input.
 */
export function takePastes(
  terminal: Pastable,
  mayPaste: MayPaste | undefined,
  send: (input: () => void) => void,
): Disposable {
  const disposables = new DisposableList();
  const original = terminal.paste;
  let gone = false;
  const paste = async (text: string): Promise<void> => {
    if (!text || terminal.options.disableStdin) return;
    const runs = !terminal.modes.bracketedPasteMode && /[\r\n]/.test(text);
    if (runs && mayPaste && !(await mayPaste(text))) return;
    if (!gone) send(() => terminal.input(encodePaste(text, terminal.modes.bracketedPasteMode)));
  };
  terminal.paste = text => void paste(text);
  disposables.defer(() => {
    gone = true;
    if (original) terminal.paste = original;
  });
  const take = (event: Event, text: string | null | undefined) => {
    const { element } = terminal;
    if (!element || !event.composedPath().includes(element)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    void paste(text ?? "");
  };
  if (typeof document === "undefined") return disposables;
  // These listeners capture events at the document, so they run before xterm.js's own listeners.
  const first = { capture: true };
  disposables.listen<ClipboardEvent>(
    document,
    "paste",
    event => take(event, event.clipboardData?.getData("text/plain")),
    first,
  );
  disposables.listen<InputEvent>(
    document,
    "beforeinput",
    event => {
      const { inputType, data, dataTransfer } = event;
      const text = data ?? dataTransfer?.getData("text/plain");
      // A phone's keyboard inserts text from the clipboard as if it were typed.
      const several = inputType === "insertText" && hasControls(text);
      if (INSERTED.has(inputType) || several) take(event, text);
    },
    first,
  );
  // Composed text can't be blocked: xterm.js reads it from its field after this event.
  disposables.listen<InputEvent>(
    document,
    "input",
    event => {
      const { inputType, data, isComposing, target } = event;
      if (!isComposing && !COMPOSED.has(inputType)) return;
      if (target instanceof HTMLTextAreaElement && terminal.element?.contains(target) && hasControls(data))
        // Each character is replaced by one space, because xterm.js stores positions in this text.
        target.value = target.value.replace(/\p{Cc}/gu, " ");
    },
    first,
  );
  return disposables;
}

/** Whether text consists of several characters including control characters. A single control character is a key. */
function hasControls(text: string | null | undefined): boolean {
  return !!text && text.length > 1 && /\p{Cc}/u.test(text);
}
