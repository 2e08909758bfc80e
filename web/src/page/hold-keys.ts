// Captures keys while a dialog with a text field loads, so that they don't go to the terminal.

/** How long to wait for the dialog before keys go to the terminal again, in milliseconds. */
const LIMIT = 5_000;

/** Returns a function that stops capturing keys and returns the typed text, or undefined if the user pressed Escape. */
export function holdKeys(
  target: Pick<Window, "addEventListener" | "removeEventListener">,
): () => string | undefined {
  let text: string | undefined = "";
  const take = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (event.key === "Escape") {
      end();
      text = undefined;
    } else if (event.key === "Backspace") text = text?.slice(0, -1);
    else if (event.key.length === 1) text += event.key;
  };
  const end = () => {
    clearTimeout(timer);
    target.removeEventListener("keydown", take, { capture: true });
    return text;
  };
  const timer = setTimeout(end, LIMIT);
  target.addEventListener("keydown", take, { capture: true });
  return end;
}
