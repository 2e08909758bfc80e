// Asks before several lines are pasted into a program that would treat each line end as the Enter key.

import { persistently } from "../import-with-retry";

/** Maximum number of characters of the text to show in the question. */
const SHOWN = 400;

/** Returns whether the user wants to send the text to the program. */
export async function mayPaste(text: string): Promise<boolean> {
  const [{ preferences }, { ask }] = await persistently(() =>
    Promise.all([import("../settings/preferences"), import("../../frame/question")]),
  );
  if (preferences().value.pasteLines === "allow") return true;
  const { yes, remember } = await ask({
    title: "Paste several lines?",
    text: `The program may run each line at once: ${describeLines(text)}.`,
    quote: text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text,
    no: "Cancel",
    yes: "Paste",
    remember: "Do not ask again",
  });
  if (yes && remember) preferences().update({ pasteLines: "allow" });
  return yes;
}

/** Returns the number of lines in a text that contains at least one line end. */
export function describeLines(text: string): string {
  const lines = text.split(/\r\n|[\r\n]/);
  const last = lines.at(-1) === "" ? 1 : 0; // if the text ends with a line end, the last element isn't a line
  const count = lines.length - last;
  return count === 1 ? "1 line and its end" : `${count.toLocaleString("en")} lines`;
}
