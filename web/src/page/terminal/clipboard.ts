// The copy and paste keys. Ctrl+Shift+C/V work as in other terminals. Ctrl+C copies the selection, if there is one, and
// clears it, so that the next Ctrl+C interrupts.

import type { Terminal } from "@xterm/xterm";

/** For xterm's key handler: returns true if the key is handled here and must not be sent to the program. */
export function handleClipboardKey(terminal: Terminal, event: KeyboardEvent): boolean {
  if (!event.ctrlKey || event.altKey || event.metaKey) return false;
  const key = event.key.toLowerCase();
  // The browser's own "paste as plain text" fires a paste event, which xterm handles.
  if (key === "v" && event.shiftKey) return true;
  if (key !== "c" || !(event.shiftKey || terminal.hasSelection())) return false;
  if (event.type === "keydown") {
    event.preventDefault();
    void copySelection(terminal);
  }
  return true;
}

async function copySelection(terminal: Terminal): Promise<void> {
  const text = terminal.getSelection();
  if (!text) return;
  if (await copyText(text)) terminal.clearSelection();
}

/** Copies `text`. Returns false if the browser doesn't allow it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByCommand(text);
  }
}

/** `navigator.clipboard` exists only on secure origins; this method also works on other origins. */
function copyByCommand(text: string): boolean {
  const put = (event: ClipboardEvent) => {
    event.clipboardData?.setData("text/plain", text);
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  document.addEventListener("copy", put, { capture: true, once: true });
  try {
    return document.execCommand("copy");
  } finally {
    document.removeEventListener("copy", put, { capture: true });
  }
}
