// Asks before something is lost.

import { byId, setText } from "./dom";

/** Shows the question and resolves with whether the user wants to go on; Escape keeps. */
export function ask(title: string, text: string): Promise<boolean> {
  const dialog = byId<HTMLDialogElement>("close-dialog");
  setText(byId("close-title"), title);
  setText(byId("close-text"), text);
  dialog.returnValue = "";
  dialog.showModal();
  byId("close-keep").focus();
  return new Promise(resolve => {
    byId("close-keep").onclick = () => dialog.close();
    byId("close-end").onclick = () => dialog.close("end");
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "end"), { once: true });
  });
}
